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
    ['A,Ci\n1,2\n"1,500",2\n', 'row 3, column "A": "1,500" is no number'],
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

  test("two rows of units: the second is no number", () => {
    expect(() => read("A,Ci\na,b\nc,d\n1,2\n")).toThrow('row 3, column "A": "c" is no number');
  });

  test("bytes that are no text, a quote that never ends", () => {
    expect(() => read(new Uint8Array([0x41, 0x2c, 0xff, 0xfe]))).toThrow('"t.csv" is not UTF-8 text');
    expect(() => read('A,Ci\n"1,2\n3,4\n')).toThrow(/^"t.csv": row 2: /);
  });
});

test.each<[string, boolean, number | undefined]>([
  ["1.5", false, 1.5],
  ["1,5", false, 1.5],
  ["1,500", true, 1.5],
  ["1,500", false, undefined],
  [".5e-3", false, 5e-4],
  ["5.", true, 5],
  ["", true, undefined],
  ["1 000", true, undefined],
  ["Infinity", true, undefined],
  ["1e", true, undefined],
])("%s (comma %s): %s", (text, comma, value) => expect(numberOf(text, comma)).toBe(value));
