import { expect, test } from "vitest";
import type { CatalogFile } from "../../../../backend/cli/catalog/document.ts";
import { catalogCsv } from "../../../../backend/cli/catalog/tables.ts";
import { scansCsv } from "../../../../backend/cli/report/scan-table.ts";
import { standCsv, stemCurveCsv, treeCsv } from "../../../../shared/client/inventory-tables.ts";
import { DEFAULT_STAND_SETTINGS, standSummary } from "../../../../shared/client/stand.ts";
import { treeQsmCsv } from "../../../../shared/client/tree-qsm-csv.ts";
import type { TreeRow } from "../../../../shared/contract/cloud-session/tree-inventory-rows.ts";
import { csvCell } from "../../../../shared/wire/csv-cell.ts";

const FORMULAS = ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "\n=1", " =1", '=HYPERLINK("http://x","y")'];

/** Cells of a CSV text (RFC 4180), read by other code than that which writes them. */
function cells(text: string): string[] {
  const found = [...text.matchAll(/(?:^|,|\r?\n)(?:"((?:[^"]|"")*)"|([^",\r\n]*))/g)];
  return found.map(([, quoted, plain]) => (quoted === undefined ? (plain ?? "") : quoted.replaceAll('""', '"')));
}
const isFormula = (cell: string) => /^\s*[=+@]|^\s*-(?![\d.]+(e[-+]?\d+)?$)/i.test(cell);

test.each(FORMULAS)("%j is a text in a cell", (text) => {
  expect(cells(csvCell(text))).toEqual([`'${text}`]);
});

test("numbers stay numbers; what is missing stays empty; quotes and commas are kept", () => {
  expect([-1.5, 1e-7, true, null, undefined, Number.NaN].map(csvCell)).toEqual(["-1.5", "1e-7", "true", "", "", ""]);
  expect(csvCell('a "b", c')).toBe('"a ""b"", c"');
  expect(csvCell("a-b=c")).toBe("a-b=c");
});

test("no table of an inventory or a catalogue holds a formula, whatever things are called", () => {
  const name = "=cmd|' /C calc'!A0";
  const tree = {
    tree_id: 1,
    n_points: 9,
    dbh_m: 0.2,
    height_m: -1,
    stem_base: [0, -2, 0],
    flags: [],
  } satisfies TreeRow;
  const settings = DEFAULT_STAND_SETTINGS;
  const edits = { 1: { species: "+x", status: "live", label: "@y" } } as const;
  const file = { name, bounds: { min: [0, 0, 0], max: [1, 1, 1] }, crs_epsg: null, crs_name: "-1", warnings: ["=1"] };
  const tables = [
    ...treeCsv({ scan_name: name, trees: [tree], settings, edits }),
    ...stemCurveCsv(name, [{ tree_id: 1, axial_m: 1, height_m: 1, x: 0, y: 0, z: 0 } as never]),
    standCsv(name, standSummary({ trees: [tree], stand: null }), settings),
    ...treeQsmCsv(name, [{ tree_id: 1, success: false, error: "=1" } as never]),
    catalogCsv([{ ...file, density: null } as unknown as CatalogFile]),
    scansCsv([{ scan_index: 0, name, row_count: 1, miss_count: 0, origin: null } as never]),
  ];
  const texts = tables.flatMap(cells);
  expect(texts.filter(isFormula)).toEqual([]);
  expect(texts.filter((cell) => cell.startsWith(`'${name}`)).length).toBeGreaterThan(5);
  expect(texts).toContain("-2"); // a coordinate
});
