import { zipSync } from "fflate";
import { describe, expect, test } from "vitest";
import { tableColumns } from "../../../../backend/services/fit/table/columns.ts";
import { workbookTable } from "../../../../backend/services/fit/table/workbook-table.ts";
import { AppError } from "../../../../shared/errors.ts";
import { MAX_FIT_WORKBOOK_BYTES } from "../../../../shared/limits.ts";
import { randomUnits } from "../../../support/fit/random-expression.ts";
import { packedWorkbook, workbookFiles } from "../../../support/fit/workbook.ts";

const ROWS = [
  ["A (umol m-2 s-1)", "Ci", "note"],
  ["umol", "ppm", null],
  [1.5, 100, "first & <last>"],
  [null, 150, null],
  ["-2,5", "200", null],
];
const FILES = workbookFiles(ROWS);
const read = async (bytes: Buffer) =>
  tableColumns(await workbookTable(bytes, "t.xlsx"), { required: ["A", "Ci"], optional: [], label: null });

test("numbers, text that is a number, units, empty cells", async () => {
  const { numbers, warnings } = await read(packedWorkbook(FILES));
  expect(Object.fromEntries(numbers)).toEqual({ A: [1.5, -2.5], Ci: [100, 200] });
  expect(warnings).toEqual(["Rows with an empty cell were left out: 4."]);
});

test("a cell that is no number is named as in the sheet", async () => {
  const bytes = packedWorkbook(workbookFiles([...ROWS, [3, "many", null]]));
  await expect(read(bytes)).rejects.toThrow('row 6, column "Ci": "many" is no number');
});

describe("hostile workbooks", () => {
  const refusal = (bytes: Buffer) => expect(read(bytes)).rejects;
  const sheet = (text: string) => packedWorkbook({ ...FILES, "xl/worksheets/sheet1.xml": text });

  test("no archive, a cut one, one without a sheet", async () => {
    await refusal(Buffer.from("A,Ci\n1,2\n")).toThrow('"t.xlsx" is no workbook: its archive is damaged');
    await refusal(Buffer.alloc(0)).toThrow("its archive is damaged");
    const whole = packedWorkbook(FILES);
    await refusal(whole.subarray(0, whole.length - 30)).toThrow("its archive is damaged");
    await refusal(packedWorkbook({ "xl/other.xml": "" })).toThrow('"t.xlsx" is no workbook that can be read');
  });

  test("a bomb is unpacked no further than the limit", async () => {
    const blanks = " ".repeat(8 * MAX_FIT_WORKBOOK_BYTES);
    await refusal(sheet(`<worksheet><sheetData>${blanks}</sheetData></worksheet>`)).toThrow("bytes of cells");
    const lying = sheet(`<worksheet>${blanks}</worksheet>`);
    const at = lying.lastIndexOf("xl/worksheets/sheet1.xml") - 46;
    expect(lying.readUInt32LE(at)).toBe(0x02014b50);
    lying.writeUInt32LE(10, at + 24); // the header says ten bytes
    await refusal(lying).toThrow("bytes of cells");
    const stored = Buffer.from(zipSync({ "xl/workbook.xml": Buffer.from(blanks) }, { level: 0 }));
    await refusal(stored).toThrow("bytes of cells");
  });

  test("a cell at the end of the sheet does not fill the memory", async () => {
    const far = '<worksheet><sheetData><row r="1048576"><c r="XFD1048576"><v>1</v></c></row></sheetData></worksheet>';
    await refusal(sheet(far)).toThrow("a table has at most 100000 rows and 256 columns");
    const none = '<worksheet><sheetData><row r="1"><c r="constructor(A3"><v>1</v></c></row></sheetData></worksheet>';
    await refusal(sheet(none)).toThrow('"constructor(A3" is no cell');
  });

  test("2,000 workbooks with wrong bytes", async () => {
    const unit = randomUnits(3);
    const whole = packedWorkbook(FILES);
    let refused = 0;
    for (let i = 0; i < 2000; ++i) {
      const bytes = Buffer.from(whole);
      for (let k = 0; k < 1 + 3 * unit(); ++k) bytes[Math.floor(unit() * bytes.length)] = Math.floor(256 * unit());
      await read(bytes).catch((raw: unknown) => {
        expect(raw).toBeInstanceOf(AppError);
        refused += 1;
      });
    }
    expect(refused).toBeGreaterThan(100);
  });
});
