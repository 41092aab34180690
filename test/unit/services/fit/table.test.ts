import { describe, expect, test } from "vitest";
import { numberOf, tableColumns } from "../../../../backend/services/fit/table/columns.ts";
import { textTable } from "../../../../backend/services/fit/table/text-table.ts";

const WANTED = { required: ["A", "Ci"], optional: ["Ca"], label: "CurveID" };
const read = (text: string | Uint8Array, wanted = WANTED) =>
  tableColumns(textTable(typeof text === "string" ? new TextEncoder().encode(text) : text, "t.csv"), wanted);
const columns = (text: string | Uint8Array) => Object.fromEntries(read(text).numbers);

describe("layouts", () => {
  const wanted = { A: [1.5, -2], Ci: [100, 200] };
  test.each<[string, string]>([
    ["commas", "A,Ci\n1.5,100\n-2,200\n"],
    ["byte order mark, CRLF, no end of line", "\uFEFFA,Ci\r\n1.5,100\r\n-2,200"],
    ["semicolons and decimal commas", "A;Ci\n1,5;100\n-2;2,0e2\n"],
    ["tabs, decimal commas", "A\tCi\n1,5\t100\n-2\t200\n"],
    ["blanks", "  A   Ci\n 1.5    100 \n-2 200\n\n"],
    ["quotes, a quoted comma", '"A","Ci"\n"1,5",100\n-2,"200"\n'],
    ["other columns, another order", "note,Ci,A\nfirst,100,1.5\n,200,-2\n"],
    ["comments and blank rows", "# made by hand\n\nA,Ci\n1.5,100\n,\n-2,200\n"],
    ["units in a row of their own", "A,Ci\numol m-2 s-1,umol mol-1\n1.5,100\n-2,200\n"],
    ["units in the header", "A (umol m-2 s-1),Ci [umol mol-1]\n1.5,100\n-2,200\n"],
    ["a typographic minus", "A,Ci\n1.5,100\n\u22122,200\n"],
  ])("%s", (_, text) => expect(columns(text)).toEqual(wanted));

  test("UTF-16", () => {
    const text = "\uFEFFA\tCi\n1,5\t100\n-2\t200\n";
    expect(columns(Buffer.from(text, "utf16le"))).toEqual(wanted);
    expect(columns(Buffer.from(text, "utf16le").swap16())).toEqual(wanted);
  });

  test("labels and optional columns", () => {
    const { labels, numbers } = read("CurveID,A,Ci,Ca\nx,1,2,400\ny,3,4,410\n");
    expect([labels, numbers.get("Ca")]).toEqual([
      ["x", "y"],
      [400, 410],
    ]);
    expect(read("A,Ci\n1,2").labels).toBeNull();
  });

  test("rows with an empty cell are left out and named as in a spreadsheet", () => {
    const { numbers, warnings } = read("A,Ci\n1,2\n,3\nNA,4\n5,6\n");
    expect([...numbers.values()]).toEqual([
      [1, 5],
      [2, 6],
    ]);
    expect(warnings).toEqual(["Rows with an empty cell were left out: 3, 4."]);
  });
});

describe("what is wrong is named with row and column", () => {
  test.each<[string, string]>([
    ["A,Ci\n1,2\n3,abc\n", 'row 3, column "Ci": "abc" is no number'],
    ["# c\n\nA,Ci\n1,2\n3,1e999\n", 'row 5, column "Ci": "1e999" is no number'],
    ['A,Ci\n1,2\n"1,500",2\n', 'row 3, column "A": "1,500" can be 1500 or 1.500'],
    ["A,Ci\n1,2\n1.234,5,6\n3,2,\n0x10,2\n", 'row 5, column "A": "0x10" is no number'],
    ["A;Ci\n1;2\n1.234,5;6\n", 'row 3, column "A": "1.234,5" is no number'],
    ["A,B\n1,2\n", 'the table has no column "Ci"; its columns are A, B'],
    ["1,2\n3,4\n", 'the table has no column "A", "Ci"; its columns are 1, 2'],
    ["A,Ci,A\n1,2,3\n", 'the table has 2 columns "A"'],
    ["A,Ci\n", "the table has no row with all values of the model"],
    ["A,Ci\nu,v\n", "the table has no row with all values of the model"],
    ["A,Ci\n1,\n", "the table has no row with all values of the model"],
    ["", "the table is empty"],
    ["\n\n# nothing\n", "the table is empty"],
  ])("%j", (text, sentence) => expect(() => read(text)).toThrow(sentence));

  test("a long cell is cut in a message", () => {
    expect(() => read(`${"(".repeat(1e6)}\n1\n`)).toThrow(/its columns are \({60}$/);
  });

  test("two rows of units: the second is no number", () => {
    expect(() => read("A,Ci\na,b\nc,d\n1,2\n")).toThrow('row 3, column "A": "c" is no number');
  });

  test("bytes that are no text, a quote that never ends", () => {
    expect(() => read(new Uint8Array([0x41, 0x2c, 0xff, 0xfe]))).toThrow('"t.csv" is not UTF-8 text');
    expect(() => read('A,Ci\n"1,2\n3,4\n')).toThrow(/^"t.csv": row 2: /);
  });
});

test.each<[string, number | undefined]>([
  ["1.5", 1.5],
  ["1,5", 1.5],
  [".5e-3", 5e-4],
  ["5.", 5],
  ["", undefined],
  ["1 000", undefined],
  ["1.234,5", undefined],
  ["Infinity", undefined],
  ["1e", undefined],
])("%s: %s", (text, value) => expect(numberOf(text)).toBe(value));

describe("a sign that may separate thousands", () => {
  const of = (...cells: string[]) => columns(`A;Ci\n${cells.map((cell) => `${cell};1`).join("\n")}\n`).A;
  test.each([
    [["500", "850", "1,000"], 'row 4, column "A": "1,000" can be 1000 or 1.000'],
    [["10.5", "1,000"], 'row 3, column "A": "1,000" can be 1000 or 1.000'],
    [["10.5", "10,5", "1,000"], '"1,000" can be 1000 or 1.000'],
    [["10,5", "-1.000"], '"-1.000" can be -1000 or -1.000'],
  ])("%j is refused", (cells, sentence) => expect(() => of(...cells)).toThrow(sentence));

  test.each([
    [
      ["10,5", "1,000"],
      [10.5, 1],
    ],
    [
      ["0,512", "1,234"],
      [0.512, 1.234],
    ],
    [
      ["1.234", "2.5"],
      [1.234, 2.5],
    ],
    [
      ["1.234", "7"],
      [1.234, 7],
    ],
    [
      ["10.5", "1000,5"],
      [10.5, 1000.5],
    ],
  ])("%j is told by the other cells", (cells, values) => expect(of(...cells)).toEqual(values));

  test("cells of other columns say nothing", () => {
    expect(columns("A;Ci;note\n10,5;1;2.5\n1,000;2;3.5\n").A).toEqual([10.5, 1]);
  });
});

test("rows without a label are left out where others have one", () => {
  const { labels, numbers, warnings } = read("CurveID,A,Ci\nx,1,2\n,3,4\ny,5,6\n");
  expect([labels, numbers.get("A")]).toEqual([
    ["x", "y"],
    [1, 5],
  ]);
  expect(warnings).toEqual([expect.stringMatching(/^Rows without CurveID were left out: 3\. Fill it in every row/)]);
  const bare = read("CurveID,A,Ci\n,1,2\n,3,4\n");
  expect([bare.labels, bare.numbers.get("A"), bare.warnings]).toEqual([null, [1, 3], []]);
});

test("a row whose first cell begins with # is a comment unless it is a spreadsheet's error or a number", () => {
  const { numbers, warnings } = read("note,A,Ci\n#1,1,2\n# not this,3,4\n#N/A,5,6\n#DIV/0!,7,8\n#N/A,NA,8\n");
  expect(numbers.get("A")).toEqual([1, 5, 7]);
  expect(warnings).toEqual(["Rows with an empty cell were left out: 6."]);
});
