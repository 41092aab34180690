// Trees that a cloud shows twice, as scans do that do not fit each other.
import { expect, test } from "vitest";
import { isNoTree } from "../../../shared/client/stand.ts";
import { TreeInventoryTail } from "../../../shared/contract/cloud-session/tree-inventory.ts";
import { uniform } from "../../accuracy/random.ts";
import { cloud, tail } from "../../support/session/session-edits.ts";
import { sessionTest } from "../../support/session/session-test.ts";

const made = sessionTest({ listening: true });
const TREES = 12;

/** Trees 1 to 12, and 21 to 32 from another scan that lies `by` metres beside, with fewer points, or, of `lines`, just upright lines. */
function plot(by: readonly [number, number] | null, lines = false): string[] {
  const [next, place] = [uniform(7), uniform(3)];
  const rows = ["x y z tree_instance height_above_ground ground_class"];
  const add = (x: number, y: number, z: number, id: number, label = 2) =>
    rows.push(`${x.toFixed(4)} ${y.toFixed(4)} ${z.toFixed(4)} ${id} ${z.toFixed(4)} ${label}`);
  for (let x = 0; x <= 24; x += 0.5) for (let y = 0; y <= 18; y += 0.5) add(x, y, 0, 0, 1);
  for (let k = 0; k < TREES; k += 1) {
    const [x, y] = [3 + 6 * (k % 4) + 2 * place(), 3 + 6 * Math.floor(k / 4) + 2 * place()];
    const radius = 0.08 + 0.15 * place();
    const grown = (id: number, count: number, dx: number, dy: number) => {
      for (let i = 0; i < count; i += 1) {
        const [turn, aside] = [6.28 * next(), 6.28 * next()];
        add(x + dx + radius * Math.cos(turn), y + dy + radius * Math.sin(turn), 8 * next(), id);
        const far = 1.2 * Math.sqrt(next());
        add(x + dx + far * Math.cos(aside), y + dy + far * Math.sin(aside), 5 + 4 * next(), id);
      }
    };
    grown(k + 1, 3000, 0, 0);
    if (by && !lines) grown(k + 21, 1500, ...by);
    if (by && lines) for (let i = 0; i < 60; i += 1) add(x + by[0], y + by[1], 0.05 * i, k + 21);
  }
  return rows;
}

async function listOf(rows: string[], body: object = {}) {
  const { session_id } = await cloud(made, rows);
  return tail(made, TreeInventoryTail, `/api/cloud/session/${session_id}/tree_inventory`, body);
}
const told = ({ warnings }: TreeInventoryTail) => warnings.filter((one) => one.includes("a second time"));

test("trees of scans that do not fit are counted once", async () => {
  const alone = await listOf(plot(null));
  expect(alone.trees.map(({ dbh_m }) => typeof dbh_m)).toEqual(Array(TREES).fill("number"));
  expect(told(alone)).toEqual([]);
  const list = await listOf(plot([0.45, -0.3]));
  const [first, second] = [list.trees.slice(0, TREES), list.trees.slice(TREES)];
  expect(first.filter(isNoTree)).toEqual([]);
  for (const [k, tree] of first.entries()) expect(tree.dbh_m).toBeCloseTo(alone.trees[k]?.dbh_m ?? 0, 2);
  for (const tree of second) {
    expect(tree).toMatchObject({ dbh_m: null, basal_area_m2: null, hegyi_index: null });
    expect(tree.flags).toEqual(expect.arrayContaining(["no_stem", "repeated"]));
    expect(isNoTree(tree)).toBe(true);
  }
  expect(told(list)).toEqual([
    expect.stringMatching(
      /^12 trees stand here a second time, all as far from their first place \(x \+0\.45 m, y -0\.30 m in the median; flags: repeated; tree 21 of 1, 22 of 2, .*\.\.\)/,
    ),
  ]);
  expect(list.stem_curve.filter(({ tree_id, ok }) => tree_id > TREES && ok)).toEqual([]);
  expect(list.stand?.crown_area_sum_m2).toBeCloseTo(alone.stand?.crown_area_sum_m2 ?? 0, 0);
  expect(first[0]?.hegyi_index).toBeCloseTo(alone.trees[0]?.hegyi_index ?? 0, 2);
});

test("stems without a diameter in the stem of another, all in one direction, are told", async () => {
  const within = ({ warnings }: TreeInventoryTail) => warnings.filter((one) => one.includes("within the stem"));
  const list = await listOf(plot([0.06, -0.04], true));
  expect(list.trees.slice(TREES).map(({ dbh_m }) => dbh_m)).toEqual(Array(TREES).fill(null));
  expect(told(list)).toEqual([]);
  expect(within(list)).toEqual([
    expect.stringMatching(
      /^12 trees stand within the stem of another, .* \(x \+0\.06 m, y -0\.04 m in the median; tree 21 of 1, /,
    ),
  ]);
  expect(within(await listOf(plot(null)))).toEqual([]);
});

test("trees asked for without the others are not known", async () => {
  const { trees } = await listOf(plot([0.45, -0.3]), { tree_ids: [1, 2, 22, 23] });
  expect(trees.map(({ dbh_m }) => typeof dbh_m)).toEqual(Array(4).fill("number"));
});
