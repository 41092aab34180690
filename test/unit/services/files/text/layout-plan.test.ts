import { describe, expect, test } from "vitest";
import {
  detectTextLayout,
  type TextLayout,
  type TextLayoutOptions,
  textPreviewColumns,
  typeHint,
} from "../../../../../backend/services/files/text/layout.ts";
import { ColumnPlan } from "../../../../../shared/contract/column-plan.ts";
import { AppError } from "../../../../../shared/errors.ts";

const roles = ({ columns }: TextLayout) => columns.map(({ role }) => role);
const slugs = ({ columns }: TextLayout) => columns.map(({ slug }) => slug);
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

describe("column plan", () => {
  const xyz = [
    { index: 0, role: "X" },
    { index: 1, role: "y" },
    { index: 2, role: "Z" },
  ];
  const entry = (index: number, rest: object) => ({ columns: [...xyz, { index, ...rest }] });

  test("takes precedence and leaves out columns that it does not list", () => {
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
    [{ role: "extra", slug: "ox" }, "extra", "ox", "ox"],
    [{ role: "origin_x" }, "extra", "origin_x", "origin_x"],
    [{ role: "r", slug: "red_edge", label: "Red edge" }, "extra", "red_edge", "Red edge"],
    [{ role: "TIMESTAMP" }, "timestamp", "timestamp", "Timestamp"],
  ])("%j", (column, role, slug, label) => {
    expect(withPlan("1 2 3 4", entry(3, column)).columns[3]).toMatchObject({ role, slug, label });
  });

  test("an extra with the name of a beam origin becomes one if the other two are planned as well", () => {
    const origin = ["ox", "yorigin", "beam_origin_z"].map((slug, i) => ({ index: i + 3, role: "extra", slug }));
    const layout = withPlan("1 2 3 4 5 6", { columns: [...xyz, ...origin] });
    expect(slugs(layout).slice(3)).toEqual(["origin_x", "origin_y", "origin_z"]);
  });

  test("a class column never takes an echo column's slug", () => {
    const slug = slugs(withPlan("1 2 3 4", entry(3, { role: "extra", slug: "target_index", categorical: true })))[3];
    expect(slug).toBe("target_index_class");
  });

  test("continuous quantities stay floating point", () => {
    expect(withPlan("1 2 3 4", entry(3, { role: "nx" })).columns[3]?.type).toBe("float");
    expect(withPlan("1 2 3 4", entry(3, { role: "quality" })).columns[3]?.type).toBe("auto");
  });

  test("conflicts name both columns, in the schema and in the service", () => {
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

  test("extra, label and skip may repeat; defaults are filled in", () => {
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

  test("the reader reports a column beyond the data", () => {
    expect(withPlan("1 2 3", entry(12, { role: "quality" })).column_count).toBe(13);
  });
});

describe("preview", () => {
  test("unnamed columns are offered as skip; positions have no slug", () => {
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

  test("labels are tidied and slugs are safe", () => {
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
