import { describe, expect, test } from "vitest";
import { create, rowsOf } from "../../support/app/app.ts";
import { stateOf } from "../../support/session/session-edits.ts";
import { sessionTest } from "../../support/session/session-test.ts";

const made = sessionTest();
const text = (name: string, rows: readonly string[]) => made.file(name, `${rows.join("\n")}\n`);

describe("options for scalar columns", () => {
  const rows = [
    "x y z red green blue Intensity Temp[degC] Sky",
    "0 0 0 255 0 0 5 20.5 0",
    "1 0 0 0 255 0 9 21.5 1",
    "0 1 0 0 0 255 7 22.5 0",
  ];
  const slugs = async (id: string) => (await stateOf(made, id)).meta.extra_dims_meta;

  test("without options, every column is kept", async () => {
    const tail = await create(made, text("all.csv", rows));
    expect(await slugs(tail.session_id)).toEqual([
      { slug: "Temp_degC", label: "Temp [degC]" },
      { slug: "is_miss", label: "Miss" },
    ]);
    expect([tail.has_misses, tail.miss_count, tail.point_count, tail.total_count]).toEqual([true, 1, 2, 3]);
  });

  test("drop_slugs works in any case, on colours and intensity too, and before miss detection", async () => {
    const tail = await create(made, text("drop.csv", rows), {
      drop_slugs: ["TEMP_degc", "Colors", "INTENSITY", "is_miss"],
    });
    expect(await slugs(tail.session_id)).toEqual([]);
    expect(tail.attributes.map(({ name }) => name)).toEqual(["position"]);
    expect([tail.has_misses, tail.point_count]).toEqual([false, 3]);
  });

  test("scalar_labels set the display label", async () => {
    const tail = await create(made, text("label.csv", rows), { scalar_labels: { Temp_degC: "Leaf temperature" } });
    expect(tail.attributes.find(({ name }) => name === "Temp_degC")?.label).toBe("Leaf temperature");
    expect(await slugs(tail.session_id)).toContainEqual({ slug: "Temp_degC", label: "Leaf temperature" });
  });

  test("role_overrides give a column a canonical role; timestamp moves to the float64 clock", async () => {
    const clock = ["x y z when echo", "0 0 0 350000000.125 1", "1 0 0 350000000.25 2"];
    const tail = await create(made, text("role.csv", clock), {
      role_overrides: { when: "timestamp", echo: "target_index" },
    });
    const state = await stateOf(made, tail.session_id);
    expect(state.columns.get("timestamps")?.native.dtype).toBe("f64");
    expect(state.meta.extra_dims_meta).toEqual([{ slug: "target_index", label: "Target Index" }]);
    const rowsBack = await rowsOf(made, tail.session_id, ["timestamp", "target_index"]);
    expect(rowsBack.map((row) => row.target_index)).toEqual([1, 2]);
  });

  test("options for columns that the file does not have are named in the warnings", async () => {
    const wishes = {
      drop_slugs: ["Tmep", "colors"],
      role_overrides: { When: "timestamp" },
      scalar_labels: { nothing: "x", Temp_degC: "T" },
    };
    const tail = await create(made, text("misspelt.csv", rows), wishes);
    expect(tail.warnings).toEqual([
      "role_overrides names columns that the file does not have: When.",
      "scalar_labels names columns that the file does not have: nothing.",
      "drop_slugs names columns that the file does not have: tmep.",
    ]);
  });

  test("columns may have the names of JavaScript object members", async () => {
    const tail = await create(
      made,
      text("names.csv", ["x y z constructor toString __proto__", "0 0 0 1 2 3", "1 0 0 4 5 6"]),
      {
        role_overrides: {},
        scalar_labels: {},
      },
    );
    expect(await slugs(tail.session_id)).toEqual([
      { slug: "constructor", label: "constructor" },
      { slug: "toString", label: "toString" },
      { slug: "proto", label: "__proto__" },
    ]);
    expect(tail.observed_classes).toEqual({ constructor: [1, 4], toString: [2, 5], proto: [3, 6] });
  });

  test("scan_index 0 is the only scan", async () => {
    expect((await create(made, text("scan.csv", rows), { scan_index: 0 })).total_count).toBe(3);
  });
});
