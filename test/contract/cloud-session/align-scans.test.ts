import { expect, test } from "vitest";
import { AlignScansTail } from "../../../shared/contract/cloud-session/align-scans.ts";
import { TreeInventoryTail } from "../../../shared/contract/cloud-session/tree-inventory.ts";
import { FOUR_TREES, forestRows, forestTwice } from "../../support/scans/forest.ts";
import { deadCopy, restartWith, untouched } from "../../support/session/dead-session.ts";
import {
  amid,
  canceledAmid,
  cloud,
  columnOf,
  failed,
  refusal,
  stateOf,
  tail,
  UNKNOWN,
} from "../../support/session/session-edits.ts";
import { sessionTest } from "../../support/session/session-test.ts";

const made = sessionTest({ listening: true });
const url = (id: string) => `/api/cloud/session/${id}/align_scans`;
const align = (id: string, body: object = {}) => tail(made, AlignScansTail, url(id), body);
const inventory = (id: string) => tail(made, TreeInventoryTail, `/api/cloud/session/${id}/tree_inventory`, {});
const BY = 0.06;
const apart = (name: "scan_index" | "gps_time", values: readonly [number, number]) =>
  forestTwice(FOUR_TREES, name, values, BY);
/** The largest distance along x and along y of the second half of the rows from the first. */
async function distances(id: string): Promise<number[]> {
  const xyz = (await columnOf(made, id, "positions")) ?? [];
  const half = xyz.length / 2;
  const most = [0, 0, 0];
  for (let i = 0; i < half; i += 1)
    most[i % 3] = Math.max(most[i % 3] ?? 0, Math.abs((xyz[i + half] ?? 0) - (xyz[i] ?? 0)));
  return most;
}
/** A scanner 1 m above each point, of each row; misses are 900 m away in the last rows. */
const withOrigins = (lines: readonly string[]) =>
  lines.map((line, i) => `${line} ${i === 0 ? "origin_x origin_y origin_z" : line.split(" ").slice(0, 3).join(" ")}`);

test.each([
  ["scan_index", [1, 2], [1, 2]],
  ["gps_time", [1000, 1500], [0]],
] as const)("scans by %s are moved onto each other", async (name, values, scans) => {
  const { session_id } = await cloud(made, apart(name, values));
  expect((await inventory(session_id)).view_fit?.aligned).toBe(true);
  const answer = await align(session_id);
  if (!answer.aligned) throw new Error(answer.warnings.join(" "));
  expect(answer.scans.map(({ scan_index }) => scan_index)).toEqual(scans);
  for (const { most_m, turn_deg } of answer.scans) {
    expect(most_m).toBeCloseTo(BY / 2, 3);
    expect(Math.abs(turn_deg)).toBeLessThan(0.01);
  }
  expect(answer.view_fit).toMatchObject({ n_stems: 4, aligned: true });
  const [x = 1, y = 1, z] = await distances(session_id);
  expect(Math.max(x, y)).toBeLessThan(0.002);
  expect(z).toBe(0);
  expect(answer.warnings).toContainEqual(
    expect.stringMatching(/tree_instance still has the trees of the points as they lay/),
  );
  const after = await inventory(session_id);
  expect(after.view_fit).toMatchObject({ n_stems: 4, aligned: false });
  expect(after.warnings.join()).not.toMatch(/different (scans|times)/);
  expect(answer.cache_id).toBe((await stateOf(made, session_id)).meta.octree_cache_id);
});

test("origins of beams move with their scan, heights do not, and earlier edits are permanent", async () => {
  const { session_id } = await cloud(made, withOrigins(apart("scan_index", [1, 2])));
  const beams = async () => (await columnOf(made, session_id, "beam_origins")) ?? [];
  const gap = async () => {
    const [positions = [], origins] = [await columnOf(made, session_id, "positions"), await beams()];
    return Math.max(...origins.map((value, i) => Math.abs(value - (positions[i] ?? 0))));
  };
  expect(await gap()).toBeLessThan(1e-9);
  await made.post(session_id, "delete_region", { region: { kind: "box", min: [17, 11, -1], max: [19, 13, 1] } });
  const before = await stateOf(made, session_id);
  expect((await align(session_id)).aligned).toBe(true);
  expect(await gap()).toBeLessThan(1e-6);
  const { columns, meta, undo } = await stateOf(made, session_id);
  for (const same of ["extra/height_above_ground", "extra/scan_index", "extra/tree_instance"])
    expect([same, columns.get(same)]).toEqual([same, before.columns.get(same)]);
  expect(undo.deletes).toEqual([]);
  expect(meta).toMatchObject({ source_offset_m: null, octree_pose: null });
});

/** Two scans of trees on dense ground, the second `beside` metres away and `above` higher. */
function lifted(beside: number, above: number): string[] {
  const [head = "", ...rows] = forestTwice(FOUR_TREES, "scan_index", [1, 2], beside);
  for (let x = 0.05; x < 18; x += 0.15)
    for (let y = 0.05; y < 12; y += 0.15) for (const scan of [1, 2]) rows.push(`${x} ${y} 0 0 0 1 ${scan}`);
  const raised = rows.map((row) => {
    const [x, y, z, ...rest] = row.split(" ");
    return row.endsWith(" 2") ? [x, y, Number(z) + above, ...rest].join(" ") : row;
  });
  return [head, ...raised];
}

test.each([
  ["in height alone", 0, 0.05],
  ["level and in height", BY, -0.08],
])("the ground of scans is moved to one height: %s", async (_, beside, above) => {
  const { session_id } = await cloud(made, lifted(beside, above));
  const answer = await align(session_id);
  if (!answer.aligned) throw new Error(answer.warnings.join(" "));
  const upwards = (scan: number) => answer.scans.find(({ scan_index }) => scan_index === scan)?.z_m ?? 0;
  expect(upwards(1) - upwards(2)).toBeCloseTo(above, 4);
  if (beside > 0) expect(answer.scans.map(({ most_m }) => most_m.toFixed(2))).toEqual(["0.03", "0.03"]);
  const xyz = (await columnOf(made, session_id, "positions")) ?? [];
  const z = Array.from({ length: xyz.length / 3 }, (_, i) => xyz[3 * i + 2] ?? 0);
  expect(Math.min(...z)).toBeCloseTo(upwards(1), 4);
  expect(answer.warnings).toContainEqual(
    expect.stringMatching(/^The ground of scans lay up to [58]\.0 cm above that of others; .*compute the terrain/),
  );
  expect(answer.warnings.some((one) => one.startsWith("Scans were moved in height alone"))).toBe(beside === 0);
  expect((await align(session_id)).aligned).toBe(false);
});

test("a scan that was moved is so after a crash", async () => {
  const { session_id } = await cloud(made, apart("scan_index", [1, 2]));
  await align(session_id);
  const again = await restartWith(await deadCopy(made, session_id), { "0000aaaa": untouched });
  const [here, there] = [await columnOf(made, session_id, "positions"), await columnOf(again, "0000aaaa", "positions")];
  expect(there).toEqual(here);
});

test.each([
  [
    "the scans fit",
    forestTwice(FOUR_TREES, "scan_index", [1, 2], 0),
    /the scans fit\. The places of 4 stems differ by/,
  ],
  [
    "two stems",
    forestTwice(FOUR_TREES.slice(0, 2), "scan_index", [1, 2], BY),
    /fewer than four stems are seen by several/,
  ],
])("nothing is moved: %s", async (_, lines, told) => {
  const { session_id } = await cloud(made, lines);
  const before = await stateOf(made, session_id);
  const answer = await align(session_id);
  expect(answer).toMatchObject({
    aligned: false,
    warnings: [expect.stringMatching(told), expect.stringMatching(/^Heights of the ground/)],
  });
  expect(await stateOf(made, session_id)).toBe(before);
});

test("clouds without trees or stamps are refused", async () => {
  const [head, ...rows] = forestRows(FOUR_TREES);
  const plain = await cloud(made, [head ?? "", ...rows]);
  expect((await failed(made, url(plain.session_id))).error).toMatch(/neither scan_index nor gps times/);
  const bare = await cloud(made, ["x y z scan_index", "0 0 0 1", "1 0 0 2"]);
  expect((await failed(made, url(bare.session_id))).error).toMatch(/no column tree_instance: run Segment Trees first/);
  expect(await refusal(made, url("00000000"), {})).toEqual(UNKNOWN);
});

test("a cancel, and a change of the cloud meanwhile, leave it as it was", async () => {
  const { session_id } = await cloud(made, apart("scan_index", [1, 2]));
  const before = await stateOf(made, session_id);
  await canceledAmid(made, "alignScans", () => align(session_id).catch(() => undefined));
  expect(await stateOf(made, session_id)).toBe(before);
  const shift = () => made.post(session_id, "transform", { matrix: [1, 0, 0, 5, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1] });
  const overtaken = await amid("alignScans", shift, () => failed(made, url(session_id)));
  expect(overtaken.tail).toMatchObject({ code: "conflict" });
  expect(await distances(session_id)).toEqual([expect.closeTo(BY, 6), 0, 0]);
});
