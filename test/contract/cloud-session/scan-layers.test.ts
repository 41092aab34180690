// Scans that lie beside each other in a cloud without scan numbers: stems that are seen twice.
import { expect, test } from "vitest";
import { isNoTree } from "../../../shared/client/stand.ts";
import { TreeInventoryTail } from "../../../shared/contract/cloud-session/tree-inventory.ts";
import { uniform } from "../../accuracy/random.ts";
import { cloud, tail } from "../../support/session/session-edits.ts";
import { sessionTest } from "../../support/session/session-test.ts";

const made = sessionTest({ listening: true });
const TREES = 8;
const diameter = (k: number) => 0.2 + 0.03 * k;

/** Trees 1 to 8, seen by two scans, of which the second lies `by` metres beside; the first `divided` of them have its points as trees 101, 102, .. */
function plot(by: readonly [number, number], divided = 0): string[] {
  const next = uniform(7);
  const rows = ["x y z tree_instance height_above_ground ground_class"];
  const add = (x: number, y: number, z: number, id: number, label = 2) =>
    rows.push(`${x.toFixed(4)} ${y.toFixed(4)} ${z.toFixed(4)} ${id} ${z.toFixed(4)} ${label}`);
  for (let x = 0; x <= 24; x += 0.5) for (let y = 0; y <= 12; y += 0.5) add(x, y, 0, 0, 1);
  for (let k = 0; k < TREES; k += 1) {
    const [x, y, radius] = [3 + 6 * (k % 4), 3 + 6 * Math.floor(k / 4), diameter(k) / 2];
    for (const [dx, dy, id] of [[0, 0, k + 1] as const, [...by, k < divided ? k + 101 : k + 1] as const]) {
      for (let i = 0; i < 6000; i += 1) {
        const [turn, off] = [6.2832 * next(), 0.004 * (next() - 0.5)];
        add(x + dx + (radius + off) * Math.cos(turn), y + dy + (radius + off) * Math.sin(turn), 5 * next(), id);
      }
      for (let i = 0; i < 500; i += 1) {
        const [turn, far] = [6.2832 * next(), 1.2 * Math.sqrt(next())];
        add(x + dx + far * Math.cos(turn), y + dy + far * Math.sin(turn), 5 + 4 * next(), id);
      }
    }
  }
  return rows;
}

async function listOf(rows: string[], body: object = {}) {
  const { session_id } = await cloud(made, rows);
  return tail(made, TreeInventoryTail, `/api/cloud/session/${session_id}/tree_inventory`, body);
}
const told = ({ warnings }: TreeInventoryTail) => warnings.filter((one) => one.includes("seen twice"));
function expectRight({ trees }: TreeInventoryTail): void {
  const whole = trees.filter((tree) => !isNoTree(tree));
  expect(whole).toHaveLength(TREES);
  for (const [k, { dbh_m, height_m }] of whole.entries()) {
    expect(Math.abs((dbh_m ?? 0) - diameter(k))).toBeLessThan(0.003);
    expect(height_m).toBeCloseTo(9, 0);
  }
}

test("the layers of stems are joined, and it is told", async () => {
  const list = await listOf(plot([0.05, -0.03]));
  expectRight(list);
  expect(list.scan_layers).toMatchObject({ n_stems: TREES, n_seen_twice: TREES, turn_deg: 0, joined: true });
  expect(list.scan_layers?.x_m).toBeCloseTo(0.05, 2);
  expect(list.scan_layers?.y_m).toBeCloseTo(-0.03, 2);
  expect(list.scan_layers?.n_joined).toBe(TREES);
  expect(told(list)).toEqual([
    expect.stringMatching(
      /^Scans do not fit each other: 8 stems are seen twice, 5\.8 cm apart in one direction \(x 5\.0, y -3\.0 cm; scan_layers\)\. 8 trees were measured with both moved together/,
    ),
  ]);
});

test("parts of divided trees are measured with them", async () => {
  const list = await listOf(plot([0.06, 0.02], 2));
  expectRight(list);
  const parts = list.trees.filter(isNoTree);
  for (const { flags, dbh_m } of parts) expect([flags.includes("repeated"), dbh_m]).toEqual([true, null]);
  expect(parts).toHaveLength(2);
  expect(told(list)[0]).toMatch(/ 2 trees of the cloud are parts of them, and measured with them \(flags: repeated; /);
  expect(list.stand?.crown_area_sum_m2).toBeGreaterThan(TREES * 3.5);
});

test("as the points lie: told, not joined", async () => {
  const list = await listOf(plot([0.05, -0.03]), { align_scans: false });
  expect(list.scan_layers).toMatchObject({ n_stems: TREES, joined: false, n_joined: 0 });
  expect(told(list)[0]).toContain("Diameters are wrong by up to as much: measure with align_scans true.");
});

test("scans that fit have no layers", async () => {
  const list = await listOf(plot([0, 0]));
  expectRight(list);
  expect(list.scan_layers).toBeNull();
  expect(told(list)).toEqual([]);
});
