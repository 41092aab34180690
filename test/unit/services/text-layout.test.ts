import { describe, expect, test } from "vitest";
import {
  detectTextLayout,
  type TextLayout,
  type TextLayoutOptions,
  textPreviewColumns,
  typeHint,
} from "../../../backend/services/text-layout.ts";
import { ColumnPlan } from "../../../shared/contract/column-plan.ts";
import { AppError } from "../../../shared/errors.ts";

const roles = ({ columns }: TextLayout) => columns.map(({ role }) => role);
const slugs = ({ columns }: TextLayout) => columns.map(({ slug }) => slug);
const labels = ({ columns }: TextLayout) => columns.map(({ label }) => label);
const detect = (text: string, options?: TextLayoutOptions) => detectTextLayout(text.split("\n"), options);
const withPlan = (text: string, plan: unknown) => detect(text, { column_plan: ColumnPlan.parse(plan) });

function refusal(run: () => unknown): { code: string; message: string } {
  try {
    run();
  } catch (error) {
    if (error instanceof AppError) return { code: error.code, message: error.message };
    throw error;
  }
  throw new Error("nothing was refused");
}

describe("delimiter", () => {
  test.each([
    ["1.5,2.5,3.5", "comma", false],
    ["1, 2, 3", "comma", false],
    ["1.5\t2.5\t3.5", "tab", false],
    ["1.5;2.5;3.5", "semicolon", false],
    ["  1.5   2.5 3.5 ", "whitespace", false],
    ["1,5;2,5;-3", "semicolon", true],
    ["1,5\t2\t3,5e3", "tab", true],
    ["1,5 2,5 3,5", "whitespace", true],
    ["1;2;3", "semicolon", false],
    ["1,2,3;a", "comma", false],
    ["1.5;2.5;3.5;4,5", "semicolon", false],
  ])("%s", (row, delimiter, decimalComma) => {
    const layout = detect(row);
    expect(layout.delimiter).toBe(delimiter);
    expect(layout.decimal_comma).toBe(decimalComma);
  });

  test("a point anywhere in the sample forbids decimal commas", () => {
    expect(detect("1,5;2,5;3\n1.5;2;3").decimal_comma).toBe(false);
  });

  test("quoted fields keep their delimiters", () => {
    expect(detect('1,2,3,"a,""b"""').sample_rows).toEqual([["1", "2", "3", 'a,"b"']]);
  });

  test("a closing delimiter is no column, an empty field is one", () => {
    expect(detect("1,2,3,\n4,5,6,").column_count).toBe(3);
    expect(detect("x,y,z,a,b\n1,2,3,,5\n4,5,6,,7").sample_rows[0]).toEqual(["1", "2", "3", "", "5"]);
  });
});

describe("header", () => {
  test("names give the roles, any case, punctuation and unit", () => {
    const layout = detect(
      "Easting [m],NORTHING,Height,Red,green255,B,GPS Time,Return-Number,Deviation[]\n1,2,3,4,5,6,7,8,9",
    );
    expect(roles(layout)).toEqual(["x", "y", "z", "r255", "g255", "b255", "timestamp", "target_index", "extra"]);
    expect(slugs(layout)).toEqual(["", "", "", "", "", "", "timestamp", "target_index", "Deviation"]);
    expect(labels(layout).slice(6)).toEqual(["Timestamp", "Target Index", "Deviation"]);
    expect(layout).toMatchObject({ has_header: true, header_lines: 1, decided_by: "header", warning: null });
    expect(layout.columns[6]?.type).toBe("f64");
  });

  test("vector names, grid, miss and beam origin names", () => {
    const layout = detect("XYZ[0] XYZ[1] XYZ[2] row scancol sky ox y_origin beam_origin_z\n1 2 3 4 5 6 7 8 9");
    expect(roles(layout)).toEqual([
      "x",
      "y",
      "z",
      "row_index",
      "column_index",
      "is_miss",
      "origin_x",
      "origin_y",
      "origin_z",
    ]);
    expect(labels(layout).slice(3)).toEqual([
      "Row Index",
      "Column Index",
      "Miss",
      "Beam Origin X",
      "Beam Origin Y",
      "Beam Origin Z",
    ]);
    expect(layout.columns.slice(6).map(({ type }) => type)).toEqual(["f64", "f64", "f64"]);
  });

  test.each([
    ["#x y z w\n1 2 3 4", 1],
    ["# x y z w (a remark, behind the names)\n1 2 3 4", 1],
    ["//X,Y,Z,w\n1 2 3 4", 1],
    ["# made by a scanner\n# x y z w\n\n1 2 3 4", 3],
    ["\uFEFFx;y;z;w\n1,5;2;3;4", 1],
    ['"x","y","z","w"\n1,2,3,4', 1],
    ["x y z w\n1,2,3,4", 1],
  ])("%j is read as a header", (text, lines) => {
    const layout = detect(text);
    expect(roles(layout)).toEqual(["x", "y", "z", "extra"]);
    expect(slugs(layout)[3]).toBe("w");
    expect(layout.header_lines).toBe(lines);
    expect(layout.sample_rows).toHaveLength(1);
  });

  test("a comment without x, y and z is a remark", () => {
    const layout = detect("# survey of May\n1.5 2 3");
    expect(layout).toMatchObject({ has_header: false, header_lines: 1, decided_by: "positions" });
  });

  test("a header without z names what it found", () => {
    expect(refusal(() => detect("TreeID;X;Y;DBH\n1;2.5;3;4"))).toEqual({
      code: "invalid_file",
      message:
        "no z column: the header names TreeID, X, Y, DBH; say which columns they are with a column plan or a legend",
    });
  });

  test("unknown names over numbers fall back to positions and say so", () => {
    const layout = detect("p,q,s,Reflectance[dB]\n1.5,2,3,4");
    expect(roles(layout)).toEqual(["x", "y", "z", "reflectance"]);
    expect(layout.columns[0]?.header_name).toBe("p");
    expect(layout.warning).toContain("names no x, y, z");
  });

  test("unknown names over text are refused", () => {
    expect(refusal(() => detect("text\ta\tb\tc\nzzz\t1\t2\t3")).message).toContain(
      "no x, y and z columns: the header names text, a, b, c",
    );
  });

  test("columns behind the names are kept under their number", () => {
    const layout = detect("x,y,z\n1,2,3,4");
    expect(slugs(layout)[3]).toBe("col_4");
    expect(labels(layout)[3]).toBe("Column 4");
  });

  test("names behind the data are kept for the reader to report", () => {
    expect(detect("x,y,z,a,b\n1,2,3,4").column_count).toBe(5);
  });

  test("an unnamed counting first column shifts the names", () => {
    const layout = detect("x y z\n1 10.5 20 30\n2 11.5 21 31");
    expect(roles(layout)).toEqual(["extra", "x", "y", "z"]);
    expect(layout.warning).toContain("one name less");
    expect(roles(detect("x y z\n10.5 20 30 1\n11.5 21 31 2"))).toEqual(["x", "y", "z", "extra"]);
  });

  test("a second column of one role becomes an extra, equal slugs are numbered", () => {
    const layout = detect("x,y,z,x,time,gps time,a b,a-b\n1,2,3,4,5,6,7,8");
    expect(roles(layout)).toEqual(["x", "y", "z", "extra", "timestamp", "extra", "extra", "extra"]);
    expect(slugs(layout)).toEqual(["", "", "", "x_field", "timestamp", "gps_time_field", "a_b", "a_b_2"]);
  });

  test("fractional colours are 0..1", () => {
    const layout = detect("x,y,z,r,g,b\n1,2,3,0.5,0,1");
    expect(roles(layout).slice(3)).toEqual(["r", "g", "b"]);
    expect(layout.rgb_is_255).toBe(false);
    expect(detect("x,y,z,r,g,b\n1,2,3,1,0,1").rgb_is_255).toBe(true);
  });
});

describe("positions", () => {
  test.each([
    ["1.5 2 3", ["x", "y", "z"]],
    ["1 1 1 25", ["x", "y", "z", "intensity"]],
    ["1.5 2 3 0 128 255", ["x", "y", "z", "r255", "g255", "b255"]],
    ["1.5 2 3 0 128 255 -7", ["x", "y", "z", "r255", "g255", "b255", "intensity"]],
    ["1.5 2 3 0 128 256", ["x", "y", "z", "extra", "extra", "extra"]],
    ["1.5 2 3 -20 1 2 3", ["x", "y", "z", "extra", "extra", "extra", "extra"]],
    ["7 8 1.5 2 3", ["row_index", "column_index", "x", "y", "z"]],
    ["7 1.5 2 3", ["row_index", "x", "y", "z"]],
    ["7 8 9 1.5 2 3", ["row_index", "column_index", "x", "y", "z", "intensity"]],
    ["7 8 1.5", ["x", "y", "z"]],
    ["400000 5400000 1.5 9", ["x", "y", "z", "intensity"]],
    ["1 2 3 4 5", ["x", "y", "z", "extra", "extra"]],
    ["1.5 2 3 nan 5 6", ["x", "y", "z", "extra", "extra", "extra"]],
  ])("%s", (row, expected) => {
    expect(roles(detect(`${row}\n${row}`))).toEqual(expected);
  });

  test("every sampled row counts", () => {
    expect(roles(detect("1.5 2 3 0 1 2\n1.5 2 3 0 1 300"))).toEqual(["x", "y", "z", "extra", "extra", "extra"]);
  });

  test("a count before the rows marks a PTS file: intensity, then colours", () => {
    const layout = detect("2\n1.5 2 3 -1035 97 59 38\n1.5 2 3 900 97 59 38");
    expect(layout).toMatchObject({ has_header: false, header_lines: 1 });
    expect(roles(layout)).toEqual(["x", "y", "z", "intensity", "r255", "g255", "b255"]);
  });

  test("one odd row does not decide the width", () => {
    expect(detect("1.5 2 3 4 5 6 7 8\n1.5 2 3\n1.5 2 3").column_count).toBe(3);
  });

  test.each([
    ["", "no data rows"],
    ["# only remarks", "no data rows"],
    ["this is prose about nothing", "no data rows"],
    ["1 2\n3 4", "the rows have 2 columns"],
    ["ncols 76\nnrows 55\nxllcorner 0\n1 2 3", "ESRI ASCII grid"],
    ["2\n1\n0 0 0\n1 0 0\n0 1 0\n0 0 1\n1 0 0 0\n0 1 0 0\n0 0 1 0\n0 0 0 1\n1 2 3 .5", "PTX scan"],
  ])("%j is refused", (text, reason) => {
    const { code, message } = refusal(() => detect(text));
    expect(code).toBe("invalid_file");
    expect(message).toContain(reason);
  });
});

describe("legend", () => {
  test("wins over the header; unknown words are extras in lower case", () => {
    const layout = detect("x y z a b c\n1 2 3 4 5 6", { ascii_format: " Z  Y X  Quality skip " });
    expect(roles(layout)).toEqual(["z", "y", "x", "extra", "skip", "extra"]);
    expect(slugs(layout)).toEqual(["", "", "", "quality", "", "col_6"]);
    expect(layout).toMatchObject({ decided_by: "legend", header_lines: 1 });
  });

  test("must include x, y, and z", () => {
    expect(refusal(() => detect("1 2 3", { ascii_format: "x y intensity" }))).toEqual({
      code: "invalid_argument",
      message: "the legend must include x, y, and z; z is missing",
    });
  });
});

describe("column plan", () => {
  const xyz = [
    { index: 0, role: "X" },
    { index: 1, role: "y" },
    { index: 2, role: "Z" },
  ];
  const entry = (index: number, rest: object) => ({ columns: [...xyz, { index, ...rest }] });

  test("wins over everything and leaves out what it does not list", () => {
    const layout = detect("a b x y z\n1 2 3 4 5", {
      ascii_format: "z y x",
      column_plan: ColumnPlan.parse({ columns: xyz }),
    });
    expect(roles(layout)).toEqual(["x", "y", "z"]);
    expect(layout).toMatchObject({ decided_by: "plan", column_count: 5, header_lines: 1, rgb_is_255: true });
  });

  test.each([
    [{ role: "extra", slug: "my col", label: "My[dB]" }, "extra", "my_col", "My [dB]"],
    [{ role: "extra", label: "Red" }, "extra", "Red_field", "Red"],
    [{ role: "extra" }, "skip", "", "skip"],
    [{ role: "skip", slug: "a" }, "skip", "", "skip"],
    [{ role: "Deviation" }, "extra", "deviation", "deviation"],
    [{ role: "label", label: "Tree" }, "extra", "label", "Tree"],
    [{ role: "extra", slug: "ReturnNumber", label: "Echo" }, "target_index", "target_index", "Target Index"],
    [{ role: "extra", slug: "return_number", label: "Echo", categorical: true }, "extra", "Echo", "Echo"],
    [{ role: "extra", slug: "gps_time", categorical: true }, "extra", "gps_time_field", "gps_time"],
    [{ role: "extra", slug: "Row", categorical: true }, "row_index", "row_index", "Row Index"],
    [{ role: "extra", slug: "sky", categorical: true }, "is_miss", "is_miss", "Miss"],
    [{ role: "extra", slug: "ox" }, "origin_x", "origin_x", "Beam Origin X"],
    [{ role: "TIMESTAMP" }, "timestamp", "timestamp", "Timestamp"],
  ])("%j", (column, role, slug, label) => {
    expect(withPlan("1 2 3 4", entry(3, column)).columns[3]).toMatchObject({ role, slug, label });
  });

  test("a class column never takes an echo column's slug", () => {
    const slug = slugs(withPlan("1 2 3 4", entry(3, { role: "extra", slug: "target_index", categorical: true })))[3];
    expect(slug).toBe("target_index_class");
  });

  test("continuous quantities stay floating point", () => {
    expect(withPlan("1 2 3 4", entry(3, { role: "nx" })).columns[3]?.type).toBe("float");
    expect(withPlan("1 2 3 4", entry(3, { role: "quality" })).columns[3]?.type).toBe("auto");
  });

  test("conflicts name both columns, in the schema and at the service", () => {
    const columns = [...xyz, { index: 3, role: "r255" }, { index: 4, role: "R" }];
    const parsed = ColumnPlan.safeParse({ columns });
    expect(parsed.error?.issues[0]?.message).toBe('role "r" is given to columns 3 and 4; only one column can have it');
    const plan = {
      columns: columns.map((c) => ({ slug: null, label: null, categorical: false, ...c })),
      rgb_is_255: true,
    };
    expect(refusal(() => detect("1 2 3 4 5", { column_plan: plan }))).toEqual({
      code: "validation",
      message: 'column_plan: role "r" is given to columns 3 and 4; only one column can have it',
    });
    expect(
      ColumnPlan.safeParse({ columns: [...xyz, { index: 0, role: "extra" }] }).error?.issues[0]?.message,
    ).toContain("column 0 has two entries");
  });

  test("extra, label and skip repeat; defaults are filled in", () => {
    const repeated = ["extra", "extra", "label", "label", "skip", "skip"].map((role, i) => ({ index: i + 3, role }));
    const plan = ColumnPlan.parse({ columns: [...xyz, ...repeated] });
    expect(plan.rgb_is_255).toBe(true);
    expect(plan.columns[0]).toEqual({ index: 0, role: "x", slug: null, label: null, categorical: false });
    expect(slugs(detect("1 2 3 4 5 6 7 8 9", { column_plan: plan })).slice(5, 7)).toEqual(["label", "label_2"]);
  });

  test("must include x, y, and z", () => {
    expect(refusal(() => withPlan("1 2 3", { columns: [{ index: 0, role: "x" }] }))).toEqual({
      code: "invalid_argument",
      message: "the plan must include x, y, and z; y, z are missing",
    });
  });

  test("a column beyond the data is left for the reader to report", () => {
    expect(withPlan("1 2 3", entry(12, { role: "quality" })).column_count).toBe(13);
  });
});

describe("preview", () => {
  test("nameless columns are offered as skip, positions have no slug", () => {
    const columns = textPreviewColumns(detect("1.5 2 3 4 500"));
    expect(columns[3]).toEqual({
      index: 3,
      header_name: null,
      detected_role: "skip",
      suggested_label: "Column 4",
      suggested_slug: "col_4",
      type_hint: "categorical",
      remappable: true,
    });
    expect(columns[0]).toMatchObject({ detected_role: "x", suggested_slug: "", suggested_label: "x" });
  });

  test("labels are tidied, slugs are safe", () => {
    const [column] = textPreviewColumns(detect("Reflectance[dB] q x y z\n1 2 3 4 5")).slice(1);
    expect(column).toMatchObject({ detected_role: "extra", suggested_slug: "q" });
    const extra = textPreviewColumns(detect("x,y,z,Amplitude[dB],Classification\n1,2,3,4,5")).slice(3);
    expect(extra.map(({ suggested_label, suggested_slug }) => [suggested_label, suggested_slug])).toEqual([
      ["Amplitude [dB]", "Amplitude_dB"],
      ["Classification", "Classification_field"],
    ]);
  });

  test.each([
    [[], "empty"],
    [["0", "3", "3"], "categorical"],
    [["-1", "3"], "integer"],
    [Array.from({ length: 33 }, (_, i) => `${i}`), "integer"],
    [["1", "2.5"], "float"],
    [["1", "nan"], "float"],
    [["oak", "1"], "categorical"],
  ] as const)("%j is %s", (fields, hint) => {
    expect(typeHint(fields, false)).toBe(hint);
  });
});
