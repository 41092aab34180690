import { describe, expect, test } from "vitest";
import {
  detectTextLayout,
  type TextLayout,
  type TextLayoutOptions,
} from "../../../../../backend/services/files/text/layout.ts";
import { AppError } from "../../../../../shared/errors.ts";

const roles = ({ columns }: TextLayout) => columns.map(({ role }) => role);
const slugs = ({ columns }: TextLayout) => columns.map(({ slug }) => slug);
const labels = ({ columns }: TextLayout) => columns.map(({ label }) => label);
const detect = (text: string, options?: TextLayoutOptions) => detectTextLayout(text.split("\n"), options);

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

  test("a decimal point anywhere in the sample excludes decimal commas", () => {
    expect(detect("1,5;2,5;3\n1.5;2;3").decimal_comma).toBe(false);
  });

  test("quoted fields keep their delimiters", () => {
    expect(detect('1,2,3,"a,""b"""').sample_rows).toEqual([["1", "2", "3", 'a,"b"']]);
  });

  test("a delimiter at the end adds no column; an empty field is a column", () => {
    expect(detect("1,2,3,\n4,5,6,").column_count).toBe(3);
    expect(detect("x,y,z,a,b\n1,2,3,,5\n4,5,6,,7").sample_rows[0]).toEqual(["1", "2", "3", "", "5"]);
  });
});

describe("header", () => {
  test("names give the roles in any case, with punctuation and unit", () => {
    const layout = detect(
      "Easting [m],NORTHING,Height,Red,green255,B,GPS Time,Return-Number,Deviation[]\n1,2,3,4,5,6,7,8,9",
    );
    expect(roles(layout)).toEqual(["x", "y", "z", "r255", "g255", "b255", "timestamp", "target_index", "extra"]);
    expect(slugs(layout)).toEqual(["", "", "", "", "", "", "timestamp", "target_index", "Deviation"]);
    expect(labels(layout).slice(6)).toEqual(["Timestamp", "Target Index", "Deviation"]);
    expect(layout).toMatchObject({ has_header: true, header_lines: 1, decided_by: "header", warning: null });
    expect(layout.columns[6]?.type).toBe("f64");
  });

  test("vector, grid, miss and beam origin names are known", () => {
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

  test.each([
    "X,Y,Z,Reflectance[dB],Target Index[]",
    "X, Y, Z, Reflectance[dB], Target Index[]",
    "X; Y; Z; Reflectance[dB]; Target Index[]",
    "X\tY\tZ\tReflectance[dB]\tTarget Index[]",
    "XYZ[0][m],XYZ[1][m],XYZ[2][m],Reflectance[dB],Target Index[]",
    "# X, Y, Z, Reflectance[dB], Target Index[]",
    "//X, Y, Z, Reflectance[dB], Target Index[]",
  ])("names with blanks over rows without delimiters: %s", (line) => {
    const layout = detect(`${line}\n1.5 2.5 3.5 -3.2 1`);
    expect(roles(layout)).toEqual(["x", "y", "z", "reflectance", "target_index"]);
    expect(layout).toMatchObject({ delimiter: "whitespace", decided_by: "header", warning: null });
    expect(layout.columns.at(-1)?.header_name).toBe("Target Index[]");
  });

  test("one delimited name per column is enough, even if no name is x, y or z", () => {
    const layout = detect("Range A, Range B, Range C, Reflectance[dB], Target Index[]\n1.5 2.5 3.5 -3.2 1");
    expect(roles(layout)).toEqual(["x", "y", "z", "reflectance", "target_index"]);
    expect(layout.columns[1]?.header_name).toBe("Range B");
  });

  test("row numbers without a name shift delimited names with blanks", () => {
    const layout = detect("X, Y, Z, Target Index[]\n1 10.5 20 30 1\n2 11.5 21 31 2");
    expect(roles(layout)).toEqual(["extra", "x", "y", "z", "target_index"]);
    expect(layout.warning).toContain("one name fewer");
  });

  test("a comma inside a name does not split a header of blanks", () => {
    expect(slugs(detect("x y z Gain[a,b]\n1.5 2 3 4"))[3]).toBe("Gain_a_b");
  });

  test("a comment without x, y and z is not a header", () => {
    const layout = detect("# survey of May\n1.5 2 3");
    expect(layout).toMatchObject({ has_header: false, header_lines: 1, decided_by: "positions" });
  });

  test("a header without z is refused with the names found", () => {
    expect(refusal(() => detect("TreeID;X;Y;DBH\n1;2.5;3;4"))).toEqual({
      code: "invalid_file",
      message: "no z column: the header names TreeID, X, Y, DBH; assign the columns with a column plan or a legend",
    });
  });

  test("unknown names above numbers: columns by position, with a warning", () => {
    const layout = detect("p,q,s,Reflectance[dB]\n1.5,2,3,4");
    expect(roles(layout)).toEqual(["x", "y", "z", "reflectance"]);
    expect(layout.columns[0]?.header_name).toBe("p");
    expect(layout.warning).toContain("names no x, y, z");
  });

  test("unknown names above text are refused", () => {
    expect(refusal(() => detect("text\ta\tb\tc\nzzz\t1\t2\t3")).message).toContain(
      "no x, y and z columns: the header names text, a, b, c",
    );
  });

  test("columns beyond the names are kept under their number", () => {
    const layout = detect("x,y,z\n1,2,3,4");
    expect(slugs(layout)[3]).toBe("col_4");
    expect(labels(layout)[3]).toBe("Column 4");
  });

  test("the reader reports names beyond the data", () => {
    expect(detect("x,y,z,a,b\n1,2,3,4").column_count).toBe(5);
  });

  test("an unnamed first column of row numbers shifts the names", () => {
    const layout = detect("x y z\n1 10.5 20 30\n2 11.5 21 31");
    expect(roles(layout)).toEqual(["extra", "x", "y", "z"]);
    expect(layout.warning).toContain("one name fewer");
    expect(roles(detect("x y z\n10.5 20 30 1\n11.5 21 31 2"))).toEqual(["x", "y", "z", "extra"]);
  });

  test("a second column with the same role becomes an extra; equal slugs are numbered", () => {
    const layout = detect("x,y,z,x,time,gps time,a b,a-b\n1,2,3,4,5,6,7,8");
    expect(roles(layout)).toEqual(["x", "y", "z", "extra", "timestamp", "extra", "extra", "extra"]);
    expect(slugs(layout)).toEqual(["", "", "", "x_field", "timestamp", "gps_time_field", "a_b", "a_b_2"]);
  });

  test.each([
    [
      "x y height z\n1 2 3 100",
      undefined,
      ["x", "y", "extra", "z"],
      'z is column "z"; "height" stayed a column beside it',
    ],
    [
      "x,y,elevation,height,Z[m]\n1,2,301,302,303",
      undefined,
      ["x", "y", "extra", "extra", "z"],
      /"elevation", "height"/,
    ],
    ["easting northing x y z\n476000 5429000 1 2 3", undefined, ["extra", "extra", "x", "y", "z"], /x is column "x"/],
    ["1 2 3 100", "x y height z", ["x", "y", "extra", "z"], /"height"/],
    ["x y height elevation\n1 2 3 4", undefined, ["x", "y", "z", "extra"], /z is column "height"; "elevation"/],
  ])("a column named x, y or z is that coordinate: %j", (text, ascii_format, expected, said) => {
    const layout = detect(text, ascii_format ? { ascii_format } : {});
    expect(roles(layout)).toEqual(expected);
    expect(layout.warning).toMatch(said);
  });

  test("other words for a coordinate alone are that coordinate, without a warning", () => {
    const layout = detect("easting northing height\n476000 5429000 3");
    expect([roles(layout), layout.warning]).toEqual([["x", "y", "z"], null]);
  });

  test("fractional colours count as 0..1", () => {
    const layout = detect("x,y,z,r,g,b\n1,2,3,0.5,0,1");
    expect(roles(layout).slice(3)).toEqual(["r", "g", "b"]);
    expect(layout.rgb_is_255).toBe(false);
    expect(detect("x,y,z,r,g,b\n1,2,3,1,0,1").rgb_is_255).toBe(true);
  });
});

describe("incomplete triples", () => {
  test.each([
    ["ox oy", ["extra", "extra"], ["ox", "oy"]],
    ["ox oy oz", ["origin_x", "origin_y", "origin_z"], ["origin_x", "origin_y", "origin_z"]],
    ["Origin_X BeamOriginY", ["extra", "extra"], ["Origin_X", "BeamOriginY"]],
    ["r g", ["extra", "extra"], ["r", "g"]],
    ["red blue", ["extra", "extra"], ["red_field", "blue_field"]],
    ["r255 green b", ["r255", "g255", "b255"], ["", "", ""]],
  ])("%s", (names, expected, expectedSlugs) => {
    const values = names.replace(/\S+/g, "4");
    for (const layout of [
      detect(`x y z ${names}\n1 2 3 ${values}`),
      detect(`1 2 3 ${values}`, { ascii_format: `x y z ${names}` }),
    ]) {
      expect(roles(layout).slice(3)).toEqual(expected);
      if (layout.decided_by === "header") expect(slugs(layout).slice(3)).toEqual(expectedSlugs);
      else expect(slugs(layout).slice(3)).toEqual(expectedSlugs.map((slug) => slug.toLowerCase()));
    }
  });
});

describe("positions", () => {
  test.each([
    ["1.5 2 3", ["x", "y", "z"]],
    ["1 1 1 25", ["x", "y", "z", "intensity"]],
    ["1.5 2 3 0 128 255", ["x", "y", "z", "r255", "g255", "b255"]],
    ["1.5 2 3 0 128 255 -7", ["x", "y", "z", "r255", "g255", "b255", "intensity"]],
    ["1.5 2 3 0 128 256", ["x", "y", "z", "extra", "extra", "extra"]],
    ["1.5 2 3 -20 1 2 3", ["x", "y", "z", "intensity", "r255", "g255", "b255"]],
    ["1.5 2 3 0.25 1 2 3", ["x", "y", "z", "intensity", "r255", "g255", "b255"]],
    ["1.5 2 3 -20 1 2 300", ["x", "y", "z", "extra", "extra", "extra", "extra"]],
    ["1.5 2 3 255.000000 0.000000 17.000000", ["x", "y", "z", "r255", "g255", "b255"]],
    ["1.5 2 3 255. 0. 17. -0.5", ["x", "y", "z", "r255", "g255", "b255", "intensity"]],
    ["1.5 2 3 255.5 0.0 17.0", ["x", "y", "z", "extra", "extra", "extra"]],
    ["1.5 2 3 256.0 0.0 17.0", ["x", "y", "z", "extra", "extra", "extra"]],
    ["1.5 2 3 0.0 0.0 1.0", ["x", "y", "z", "extra", "extra", "extra"]],
    ["1.5 2 3 0 0 1", ["x", "y", "z", "r255", "g255", "b255"]],
    ["1,5;2;3;255,0;0,0;17,0", ["x", "y", "z", "r255", "g255", "b255"]],
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

  test("every sampled row is considered", () => {
    expect(roles(detect("1.5 2 3 0 1 2\n1.5 2 3 0 1 300"))).toEqual(["x", "y", "z", "extra", "extra", "extra"]);
  });

  test("a count before the rows marks a PTS file: intensity, then colours", () => {
    const layout = detect("2\n1.5 2 3 -1035 97 59 38\n1.5 2 3 900 97 59 38");
    expect(layout).toMatchObject({ has_header: false, header_lines: 1 });
    expect(roles(layout)).toEqual(["x", "y", "z", "intensity", "r255", "g255", "b255"]);
  });

  test("a file named .pts has intensity before the colours, also without a count", () => {
    const row = "1.5 2 3 100 97 59 38";
    expect(roles(detect(row, { extension: ".pts" })).slice(3)).toEqual(["intensity", "r255", "g255", "b255"]);
    expect(roles(detect(row, { extension: ".xyz" })).slice(3)).toEqual(["r255", "g255", "b255", "intensity"]);
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
  test("takes precedence over the header; unknown words become extras in lower case", () => {
    const layout = detect("x y z a b c\n1 2 3 4 5 6", { ascii_format: " Z  Y X  Quality skip " });
    expect(roles(layout)).toEqual(["z", "y", "x", "extra", "skip", "extra"]);
    expect(slugs(layout)).toEqual(["", "", "", "quality", "", "col_6"]);
    expect(layout).toMatchObject({ decided_by: "legend", header_lines: 1 });
  });

  test("names of class columns stay their slugs", () => {
    const layout = detect("1.5 2 3 1 2 3 4", { ascii_format: "x y z Wood_Leaf species tree_id label" });
    expect(slugs(layout).slice(3)).toEqual(["wood_leaf", "species", "tree_id", "label"]);
  });

  test("must include x, y, and z", () => {
    expect(refusal(() => detect("1 2 3", { ascii_format: "x y intensity" }))).toEqual({
      code: "invalid_argument",
      message: "the legend must include x, y, and z; z is missing",
    });
  });
});
