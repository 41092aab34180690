import { describe, expect, test } from "vitest";
import type { CloudMeta } from "../../../backend/sessions/cloud-session.ts";
import { MergeResponse } from "../../../shared/contract/cloud-session/merge.ts";
import { answered, cloud, columnOf, lineCloud, stateOf } from "../../support/session/session-edits.ts";
import { sessionTest } from "../../support/session/session-test.ts";

const made = sessionTest();
const { remove } = made;
const URL = "/api/cloud/session/merge";
const ids = async (...clouds: readonly Promise<{ session_id: string }>[]) =>
  (await Promise.all(clouds)).map(({ session_id }) => session_id);
const merge = async (session_ids: readonly string[]) =>
  (await answered(made, MergeResponse, URL, { session_ids })).merged;
async function describeAs(id: string, meta: Partial<CloudMeta>): Promise<void> {
  const session = await made.deps.sessions.get(id);
  await session.commit(session.state, { meta });
}

describe("metadata of the clouds", () => {
  const KEYS = ["crs_epsg", "crs_wkt", "source_units", "source_unit_scale", "gps_time_encoding"] as const;
  const SAME = {
    crs_epsg: 25832,
    crs_wkt: "PROJCRS",
    source_units: "ft",
    source_unit_scale: 0.3048,
    gps_time_encoding: "adjusted_standard",
  } as const;
  const OTHER = {
    crs_epsg: null,
    crs_wkt: "OTHER",
    source_units: "m",
    source_unit_scale: 1,
    gps_time_encoding: "gps_week",
  } as const;
  test.each([
    ["all agree", SAME, SAME, SAME],
    ["one differs", SAME, OTHER, Object.fromEntries(KEYS.map((key) => [key, null]))],
  ])("%s", async (_, first, second, expected) => {
    const inputs = await ids(lineCloud(made, [1]), lineCloud(made, [2]));
    await describeAs(inputs[0] ?? "", first);
    await describeAs(inputs[1] ?? "", second);
    const merged = await merge(inputs);
    expect((await stateOf(made, merged.session_id)).meta).toMatchObject(expected);
    expect([merged.source_units, merged.source_unit_scale]).toEqual([
      expected.source_units,
      expected.source_unit_scale,
    ]);
  });
});

describe("what does not fit together is named", () => {
  const warningsOf = async (session_ids: readonly string[]) =>
    (await answered(made, MergeResponse, URL, { session_ids })).warnings;
  test.each([
    [{ crs_epsg: 32632 }, { crs_epsg: 32633 }, "EPSG:32632, EPSG:32633"],
    [{ crs_epsg: 32632 }, {}, "EPSG:32632, none"],
    [{ crs_wkt: "A" }, { crs_wkt: "B" }, "one without an EPSG code"],
    [{ crs_is_geographic: true }, {}, "degrees, none"],
  ])("coordinate systems %j and %j", async (first, second, named) => {
    const inputs = await ids(lineCloud(made, [1]), lineCloud(made, [2]));
    await describeAs(inputs[0] ?? "", first);
    await describeAs(inputs[1] ?? "", second);
    expect(await warningsOf(inputs)).toEqual([expect.stringContaining(`different coordinate systems (${named})`)]);
  });

  test("one coordinate system described in two ways is one", async () => {
    const inputs = await ids(lineCloud(made, [1]), lineCloud(made, [2]));
    await describeAs(inputs[0] ?? "", { crs_epsg: 32632, crs_wkt: "A" });
    await describeAs(inputs[1] ?? "", { crs_epsg: 32632 });
    expect(await warningsOf(inputs)).toBeUndefined();
  });

  test("trees of several clouds with the same number", async () => {
    const trees = (...numbers: number[]) =>
      cloud(made, ["x y z tree_instance", ...numbers.map((id, i) => `${i} 0 0 ${id}`)]);
    const inputs = await ids(trees(0, 1, 2, 3), trees(0, 2, 3, 4), trees(0, 5));
    expect(await warningsOf(inputs)).toEqual([expect.stringMatching(/^2 tree numbers are in more than one cloud/)]);
    expect(await warningsOf([inputs[0] ?? "", inputs[2] ?? ""])).toBeUndefined();
    await remove(inputs[0] ?? "", 2, 3);
    expect(await warningsOf(inputs.slice(0, 2))).toBeUndefined();
  });

  test("scans of several clouds with the same number", async () => {
    const scans = (...numbers: number[]) =>
      cloud(made, ["x y z scan_index", ...numbers.map((id, i) => `${i} 0 0 ${id}`)]);
    const inputs = await ids(scans(0, 1), scans(0, 1), scans(2, 3));
    expect(await warningsOf(inputs)).toEqual([expect.stringMatching(/^2 scan numbers are in more than one cloud/)]);
    expect(await warningsOf(inputs.slice(1))).toBeUndefined();
  });

  test("a cloud without scan numbers is scan 0", async () => {
    const scans = (...numbers: number[]) =>
      cloud(made, ["x y z scan_index", ...numbers.map((id, i) => `${i} 0 0 ${id}`)]);
    const plain = () => cloud(made, ["x y z", "9 0 0"]);
    const inputs = await ids(scans(0, 1), plain(), scans(1, 2), plain());
    const told = expect.stringMatching(
      /^1 scan number is in more than one cloud \(all points of a cloud without scan_index are scan 0\)/,
    );
    const filled = expect.stringContaining("have the value 0 there: scan_index");
    const [first = "", second = "", third = "", fourth = ""] = inputs;
    expect(await warningsOf([first, second])).toEqual([filled, told]);
    expect(await warningsOf([second, third])).toEqual([filled]);
    expect(await warningsOf([second, third, fourth])).toEqual([filled, told]);
    expect(await warningsOf([second, fourth])).toBeUndefined();
    await remove(second, 9, 9);
    expect(await warningsOf([first, second])).toEqual([filled]);
  });

  test("rasters that share their cells; not those of different scans", async () => {
    const raster = cloud(made, ["x y z row_index column_index", "1 0 0 0 0", "2 0 0 1 0"]);
    const other = cloud(made, ["x y z row_index column_index", "3 0 0 0 0", "4 0 0 1 0"]);
    expect(await warningsOf(await ids(raster, other))).toEqual([
      expect.stringMatching(/^2 clouds have row_index and column_index/),
    ]);
    const numbered = (scan: number) =>
      cloud(made, ["x y z row_index column_index scan_index", `1 0 0 0 0 ${scan}`, `2 0 0 1 0 ${scan}`]);
    expect(await warningsOf(await ids(numbered(1), numbered(2)))).toBeUndefined();
  });
});

test("a warning if the intensities have different units", async () => {
  const db = cloud(made, ["x y z intensity", "0 0 0 -20", "1 0 0 -5"]);
  const other = cloud(made, ["x y z intensity", "5 0 0 0", "6 0 0 1"]);
  const inputs = await ids(db, other);
  const { warnings = [] } = await answered(made, MergeResponse, URL, { session_ids: inputs });
  expect(warnings.join()).toMatch(/intensities of the clouds have different units/);
});

test("intensities that two files stretched to 16 bits are stretched alike", async () => {
  const rows = (...values: number[]) => ["x y z intensity", ...values.map((value, i) => `${i} 0 0 ${value}`)];
  const inputs = await ids(cloud(made, rows(-20, -12.5, -5)), cloud(made, rows(-12.5, -10, -8)));
  const { merged, warnings } = await answered(made, MergeResponse, URL, { session_ids: inputs });
  expect(warnings).toEqual([
    "The intensities of the clouds were stretched to 16 bits from different ranges; in the merged cloud they have one range, from -20 in steps of 0.00023.",
  ]);
  const { meta } = await stateOf(made, merged.session_id);
  const { divisor = 0, offset = 0 } = meta.intensity_units ?? {};
  const stored = await columnOf(made, merged.session_id, "intensity");
  const values = (stored ?? []).map((value) => value / divisor + offset);
  for (const [i, value] of [-20, -12.5, -5, -12.5, -10, -8].entries())
    expect(Math.abs((values[i] ?? 0) - value)).toBeLessThan(0.00023);
});
