// The ground, seen once more at another height, as scans leave it that were put together at wrong heights.
import { expect, test } from "vitest";
import { AlignScansTail } from "../../../shared/contract/cloud-session/align-scans.ts";
import { SessionGroundResponse } from "../../../shared/contract/cloud-session/segment-ground.ts";
import { SessionTreesResponse } from "../../../shared/contract/cloud-session/segment-trees.ts";
import { TreeInventoryTail } from "../../../shared/contract/cloud-session/tree-inventory.ts";
import { GroundResponse } from "../../../shared/contract/segment-ground.ts";
import { twoFloors } from "../../support/scans/two-floors.ts";
import { dem } from "../../support/session/dem.ts";
import { answered, cloud, tail } from "../../support/session/session-edits.ts";
import { sessionTest } from "../../support/session/session-test.ts";

const made = sessionTest({ listening: true });
const url = (id: string, operation: string) => `/api/cloud/session/${id}/${operation}`;
const ground = (id: string) => answered(made, SessionGroundResponse, url(id, "segment_ground"), {});
const told = (warnings: readonly string[] | undefined) => (warnings ?? []).filter((one) => one.includes("two layers"));
const trees = (id: string) => answered(made, SessionTreesResponse, url(id, "segment_trees"), {});
const list = (id: string) => tail(made, TreeInventoryTail, url(id, "tree_inventory"), {});

test.each([0.4, 5])("scans that lie %d m higher are told by their numbers, and moved by align_scans", async (rise) => {
  const { session_id: id } = await cloud(made, twoFloors(rise, "scan_index"));
  const labelled = await ground(id);
  expect(labelled.ground_layers).toMatchObject({ scans_by: "scan_index", upper_scans: [2], lower_scans: [1] });
  expect(labelled.ground_layers?.z_m).toBeCloseTo(rise, 2);
  const length = rise < 1 ? "40\\.\\d cm" : "5\\.0\\d m";
  expect(told(labelled.warnings)).toEqual([
    expect.stringMatching(
      new RegExp(
        `^The ground lies in two layers ${length} apart, in \\d+ of \\d+ places of [\\d.]+ m \\(ground_layers\\): scans were put together at different heights\\. The lower one is labelled ground; heights above it are up to ${length} too large\\. Scan 2 \\(scan_index\\) lies in the upper one\\. Move the scans onto each other \\(POST align_scans of a session with trees\\), then segment ground and trees again\\.$`,
      ),
    ),
  ]);
  await trees(id);
  const before = await list(id);
  expect(before.ground_layers?.z_m).toBeCloseTo(rise, 2);
  expect(before.warnings[0]).toMatch(/^The ground lies in two layers .* Heights of trees are up to .* too large/);
  const moved = await tail(made, AlignScansTail, url(id, "align_scans"), {});
  if (!moved.aligned) throw new Error(moved.warnings.join(" "));
  const moves = new Map(moved.scans.map(({ scan_index, z_m }) => [scan_index, z_m]));
  expect((moves.get(1) ?? 0) - (moves.get(2) ?? 0)).toBeCloseTo(rise, 2);
  expect(moved.warnings).toContainEqual(
    expect.stringMatching(
      new RegExp(`^The ground of scans lay up to ${length} above that of others.*segment ground and trees again`),
    ),
  );
  const again = await ground(id);
  expect([again.ground_layers, told(again.warnings)]).toEqual([null, []]);
  await trees(id);
  const after = await list(id);
  expect([after.ground_layers, told(after.warnings)]).toEqual([null, []]);
  expect(after.trees.filter(({ dbh_m }) => dbh_m !== null)).toHaveLength(4);
  for (const { height_m } of after.trees) expect(height_m).toBeCloseTo(9, 0);
});

test("without numbers it is told, with what to do", async () => {
  const { session_id: id } = await cloud(made, twoFloors(0.4));
  const labelled = await ground(id);
  expect(labelled.ground_layers).toMatchObject({ scans_by: null, upper_scans: [], lower_scans: [] });
  expect(told(labelled.warnings)).toEqual([
    expect.stringMatching(
      /Their points do not tell which scans lie higher: register the scans again, or import them with/,
    ),
  ]);
});

test("flight lines are named", async () => {
  const { session_id: id } = await cloud(made, twoFloors(0.4, "las_point_source_id"));
  expect(told((await ground(id)).warnings)).toEqual([
    expect.stringMatching(
      /Flight line 2 \(las_point_source_id\) lies in the upper one\. Adjust the flight lines to each other first; if these are scans, POST align_scans with scan_column las_point_source_id moves them\.$/,
    ),
  ]);
});

test("terrain and canopy tell it, the top surface does not", async () => {
  const { session_id: id } = await cloud(made, twoFloors(0.4, "scan_index"));
  await ground(id);
  const meta = async (surface_type: string) => (await dem(made, url(id, "dem"), { surface_type, cell_size: 0.5 })).meta;
  const [dtm, chm, dsm] = [await meta("dtm"), await meta("chm"), await meta("dsm")];
  expect(dtm.ground_layers?.z_m).toBeCloseTo(0.4, 2);
  expect(told(dtm.warnings)).toEqual([expect.stringMatching(/The terrain follows the lower one/)]);
  expect(chm.ground_layers?.z_m).toBeCloseTo(0.4, 2);
  expect(told(chm.warnings)).toEqual([expect.stringMatching(/Heights of the canopy are up to 40\.\d cm too large/)]);
  expect([dsm.ground_layers, told(dsm.warnings)]).toEqual([null, []]);
});

test("points that are sent are looked at, too, and one layer is none", async () => {
  const pointsOf = (rise: number) =>
    twoFloors(rise)
      .slice(1)
      .map((row) => row.split(" ").map(Number));
  const segment = (rise: number) =>
    answered(made, GroundResponse, "/api/segment/ground", { points: pointsOf(rise), method: "smrf" });
  const two = await segment(0.4);
  expect([two.ground_layers?.scans_by, told(two.warnings).length]).toEqual([null, 1]);
  const one = await segment(0);
  expect([one.ground_layers, told(one.warnings)]).toEqual([null, []]);
});
