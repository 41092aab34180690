// Clouds of which the ground was cut off, and trees amid plants that hide it.
import { expect, test } from "vitest";
import { SessionGroundResponse } from "../../../shared/contract/cloud-session/segment-ground.ts";
import { TreeInventoryTail } from "../../../shared/contract/cloud-session/tree-inventory.ts";
import { CUT_PLOT_HEAD, cutPlot } from "../../support/scans/cut-plot.ts";
import { cloud, tail } from "../../support/session/session-edits.ts";
import { sessionTest } from "../../support/session/session-test.ts";

const made = sessionTest();
const told = ({ warnings }: TreeInventoryTail, what: string) => (warnings ?? []).filter((one) => one.includes(what));
const dbh = ({ trees }: TreeInventoryTail, id: number) => trees.find(({ tree_id }) => tree_id === id)?.dbh_m;

/** The list of a cloud as it is, or with its ground found again. */
async function listed(rows: readonly string[], finds_ground = false) {
  const { session_id } = await cloud(made, rows);
  const at = `/api/cloud/session/${session_id}`;
  const ground = finds_ground
    ? await tail(made, SessionGroundResponse, `${at}/segment_ground`, { method: "auto" })
    : null;
  return { list: await tail(made, TreeInventoryTail, `${at}/tree_inventory`, {}), ground };
}

test("a plot whose ground was cut off is told, with what it makes of heights and of values per area", async () => {
  const whole = await listed(cutPlot());
  expect(whole.list.trees.map(({ ground_share }) => ground_share)).toEqual([1, 1, 1]);
  expect(told(whole.list, "no ground was seen")).toEqual([]);

  const [head, ...rows] = cutPlot((_x, _y, z) => z > 0.6);
  const bare = [head, ...rows].map((row) => (row as string).split(" ").slice(0, 4).join(" "));
  const { list, ground } = await listed(bare, true);
  expect(ground?.num_ground).toBeGreaterThan(0);
  expect(ground?.warnings).toEqual(
    expect.arrayContaining([
      expect.stringMatching(/ground was hardly seen.*alone was kept in this cloud, it has no ground/),
    ]),
  );
  for (const { ground_share, height_m, tree_id } of list.trees) {
    expect(ground_share).toBeLessThan(0.2);
    const true_m = whole.list.trees.find((tree) => tree.tree_id === tree_id)?.height_m ?? Number.NaN;
    expect((height_m ?? 0) - true_m).toBeCloseTo(-0.6, 1);
  }
  expect(told(list, "no ground was seen")).toEqual([
    expect.stringMatching(
      /^Around the stems of 3 of 3 trees with a diameter .* it is not in this cloud, .* Take the cloud with its ground\.$/,
    ),
  ]);
  expect(told(list, "Scan from more places")).toEqual([]);
});

test("a tree amid plants that hide its ground is told by its number", async () => {
  const rows = cutPlot((x, y, z) => z > 0 || Math.hypot(x - 6, y) > 3);
  const plants = Array.from({ length: 300 }, (_, i) => {
    const [far, turn] = [0.3 + 2.6 * ((i * 0.618) % 1), i];
    return `${(6 + far * Math.cos(turn)).toFixed(3)} ${(far * Math.sin(turn)).toFixed(3)} ${(0.4 + 0.2 * ((i * 0.37) % 1)).toFixed(3)} 0 2 0`;
  });
  const { list } = await listed([...rows, ...plants]);
  expect(dbh(list, 9)).toBeCloseTo(0.24, 2);
  expect(list.trees.map(({ ground_share }) => ground_share)).toEqual([1, expect.closeTo(1, 0), 0]);
  expect(told(list, "no ground was seen")).toEqual([
    expect.stringMatching(
      /^Around the stem of 1 of 3 trees .*; tree 9\): it lies under plants, or was cut off there; their heights .* in a profile\.$/,
    ),
  ]);
});

test("without a ground class nothing is said of it, and trees without a diameter count nowhere", async () => {
  const rows = cutPlot().map((row) => row.split(" ").slice(0, 4).join(" "));
  expect(rows[0]).toBe(CUT_PLOT_HEAD.split(" ").slice(0, 4).join(" "));
  const { list } = await listed(rows);
  expect(list.trees.map(({ ground_share }) => ground_share)).toEqual([null, null, null]);
  expect(told(list, "no ground was seen")).toEqual([]);

  const crowns = (await listed(cutPlot((x, _y, z) => (z === 0 && x < -9) || z > 6.2))).list;
  expect(crowns.trees.every(({ dbh_m, ground_share }) => dbh_m === null && ground_share === 0)).toBe(true);
  expect(told(crowns, "no ground was seen")).toEqual([]);
});
