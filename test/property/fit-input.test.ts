import { expect, test } from "vitest";
import { compileExpression } from "../../backend/services/fit/expression/compile.ts";
import { expressionLatex } from "../../backend/services/fit/expression/latex.ts";
import { namesIn } from "../../backend/services/fit/expression/linearity.ts";
import { parseExpression } from "../../backend/services/fit/expression/parse.ts";
import { tableColumns } from "../../backend/services/fit/table/columns.ts";
import { type Table, textTable } from "../../backend/services/fit/table/text-table.ts";
import { workbookTable } from "../../backend/services/fit/table/workbook-table.ts";
import { AppError } from "../../shared/errors.ts";
import { randomExpression, randomUnits } from "../support/fit/random-expression.ts";
import { packedWorkbook, workbookFiles } from "../support/fit/workbook.ts";

/** Inputs of each kind; workbooks are a tenth. */
const INPUTS = Number(process.env.APP_TEST_MUTATIONS ?? 2000);

type Unit = () => number;
const at = (unit: Unit, length: number) => Math.floor(unit() * length);

/** A text with one to four places cut out, repeated, exchanged or replaced by a piece. */
function mutated(text: string, pieces: readonly string[], unit: Unit): string {
  let result = text;
  for (let left = 1 + at(unit, 4); left > 0; --left) {
    const from = at(unit, result.length + 1);
    const part = result.slice(from, from + 1 + at(unit, 12));
    const rest = result.slice(from + part.length);
    const piece = pieces[at(unit, pieces.length)] ?? "";
    const kinds = [
      rest,
      part + part + rest,
      rest.slice(0, 3) + part + rest.slice(3),
      piece + rest,
      piece + part + rest,
    ];
    result = result.slice(0, from) + kinds[at(unit, kinds.length)];
  }
  return result;
}

/** Whether it ended with a result; any error but a refusal fails the test, and says for which input. */
async function ends(input: unknown, body: () => unknown): Promise<boolean> {
  try {
    await body();
    return true;
  } catch (error) {
    const refused = error instanceof AppError && ["invalid_argument", "invalid_file"].includes(error.code);
    if (!refused) throw new Error(`${JSON.stringify(input).slice(0, 2000)}: ${String(error)}`, { cause: error });
    return false;
  }
}

const SIGNS = [
  "+",
  "-",
  "*",
  "/",
  "**",
  "^",
  "(",
  ")",
  ",",
  "√",
  "×",
  "−",
  ".",
  "1e400",
  "0x1",
  "e",
  "max(",
  "__proto__",
];
const ODD = [
  "constructor(",
  "λ",
  "₂",
  "\u0000",
  "\ud800",
  "=",
  "==",
  ";",
  '"',
  "'",
  "[0]",
  "1e-",
  "9".repeat(400),
  " ",
];

test(`${INPUTS} mutated equations are read or refused`, async () => {
  const unit = randomUnits(51);
  let read = 0;
  for (let i = 0; i < INPUTS; ++i) {
    const equation = mutated(randomExpression(unit, 1 + at(unit, 4)).text, [...SIGNS, ...ODD], unit);
    const done = await ends(equation, () => {
      const tree = parseExpression(equation);
      expressionLatex(tree);
      const symbols = new Map([...namesIn(tree)].map((name, place) => [name, place]));
      compileExpression(tree, { symbols, constants: new Map() });
    });
    if (done) read += 1;
  }
  expect(read).toBeGreaterThan(INPUTS / 50);
  expect(read).toBeLessThan(INPUTS * 0.9);
});

const WANTED = { required: ["A", "Ci"], optional: ["Ca"], label: "CurveID" };

/** Every column of a table that was read is as long as its labels, and all its values are finite. */
function checkColumns(table: Table): void {
  const { numbers, labels } = tableColumns(table, WANTED);
  const rows = numbers.get("A")?.length;
  for (const [name, values] of numbers) {
    expect(values, name).toHaveLength(rows ?? -1);
    expect(values.every(Number.isFinite), name).toBe(true);
  }
  if (labels) expect(labels).toHaveLength(rows ?? -1);
}

const TABLES = [
  "A,Ci,CurveID\numol,ppm,\n1.5,100,a\n-2,200,b\n2.5e0,300,b\n",
  "A;Ci;note\n1,5;100;x\n-2;2,0e2;\n",
  '\uFEFF# by hand\n"A"\t"Ci"\t"Ca"\n1.5\t100\t420\n-2\t200\t421\n',
  "  A   Ci\n 1.5    100 \n-2 200\n",
];
const CELLS = [
  "\n",
  "\r\n",
  "\r",
  ",",
  ";",
  "\t",
  '"',
  '""',
  "#",
  "NaN",
  "Infinity",
  "1e999",
  "1.2.3",
  "−1",
  "A",
  "Ci",
  "1,5",
];

test(`${INPUTS} mutated tables are read or refused`, async () => {
  const unit = randomUnits(52);
  let read = 0;
  for (let i = 0; i < INPUTS; ++i) {
    const text = mutated(TABLES[i % TABLES.length] ?? "", [...CELLS, ...ODD], unit);
    const bytes = unit() < 0.1 ? Buffer.from(text, "utf16le") : Buffer.from(text);
    if (await ends(text, () => checkColumns(textTable(bytes, "t.csv")))) read += 1;
  }
  expect(read).toBeGreaterThan(INPUTS / 50);
  expect(read).toBeLessThan(INPUTS * 0.9);
});

const XML = [
  "<",
  ">",
  "</row>",
  "<row>",
  '<c r="B2">',
  "</c>",
  "<v>",
  "1e999",
  "&amp;",
  "&",
  '"',
  't="s"',
  't="d"',
  "<!--",
  "]]>",
  "-1",
];

test(`${INPUTS / 10} workbooks with mutated XML are read or refused`, async () => {
  const unit = randomUnits(53);
  const files = workbookFiles([
    ["A (umol)", "Ci", "CurveID"],
    [1.5, 100, "a"],
    [-2, 200, "b & c"],
  ]);
  const names = Object.keys(files);
  let read = 0;
  for (let i = 0; i < INPUTS / 10; ++i) {
    const name = unit() < 0.7 ? "xl/worksheets/sheet1.xml" : (names[at(unit, names.length)] as string);
    const changed = { ...files, [name]: mutated(files[name] ?? "", [...XML, ...ODD], unit) };
    const body = async () => checkColumns(await workbookTable(packedWorkbook(changed), "t.xlsx"));
    if (await ends(changed[name], body)) read += 1;
  }
  expect(read).toBeGreaterThan(INPUTS / 200);
});
