// Giants, and trees with buttresses.
import { expect, test } from "vitest";
import { SessionTreesResponse } from "../../../shared/contract/cloud-session/segment-trees.ts";
import { TreeInventoryTail } from "../../../shared/contract/cloud-session/tree-inventory.ts";
import { answered, cloud, tail } from "../../support/session/session-edits.ts";
import { sessionTest } from "../../support/session/session-test.ts";

const made = sessionTest({ listening: true });
const even = (i: number, step: number) => (i * step) % 1;

type Form = (z: number, turn: number) => number;
const giant: Form = (z, turn) => 2.1 * (1 - z / 60) * (1 + 0.02 * Math.sin(3 * turn));
/** Six plates of 0.12 m up to 3 m. */
const ribbed: Form = (z, turn) => {
  const trunk = 0.4 * (1 - z / 40);
  const out = trunk + 1.5 * Math.max(0, 1 - z / 3) ** 1.5;
  const away = Math.abs((((turn % (Math.PI / 3)) + Math.PI / 3) % (Math.PI / 3)) - Math.PI / 6);
  return Math.max(trunk, Math.min(out, 0.06 / Math.max(1e-6, Math.sin(away))));
};

/** Points about `apart` from each other on trunks of 12 m with round crowns, on level ground. */
function stand(trees: readonly { id: number; x: number; form: Form; apart: number }[]): string[] {
  const rows = ["x y z tree_instance height_above_ground ground_class"];
  const add = (x: number, y: number, z: number, id: number, ground: number) =>
    rows.push(`${x.toFixed(4)} ${y.toFixed(4)} ${z.toFixed(4)} ${id} ${z.toFixed(4)} ${ground}`);
  for (let x = -10; x <= 30; x += 0.5) for (let y = -10; y <= 10; y += 0.5) add(x, y, 0, 0, 1);
  for (const { id, x, form, apart } of trees) {
    for (let z = 0.02; z < 12; z += apart) {
      let [last_x, last_y] = [1e9, 0];
      for (let turn = 0; turn < 2 * Math.PI; turn += 0.004) {
        const r = form(z, turn) + 0.006 * (even(rows.length, 0.7548776662) - 0.5);
        const [px, py] = [r * Math.cos(turn), r * Math.sin(turn)];
        if (Math.hypot(px - last_x, py - last_y) < apart) continue;
        [last_x, last_y] = [px, py];
        add(x + px, py, z + apart * (even(rows.length, 0.5698402909) - 0.5) + 0.02, id, 2);
      }
    }
    for (let i = 0; i < 6000; i += 1) {
      const [turn, up, part] = [2 * Math.PI * even(i, 0.7548776662), 2 * even(i, 0.5698402909) - 1, even(i, 0.4142)];
      const r = 5 * (0.5 + 0.5 * part);
      const level = r * Math.sqrt(1 - up * up);
      add(x + level * Math.cos(turn), level * Math.sin(turn), 15 + r * up, id, 2);
    }
  }
  return rows;
}

test("a giant has a diameter, and what widens a stem at breast height is told with the diameter above it", async () => {
  const trees = [
    { id: 1, x: 0, form: giant, apart: 0.07 },
    { id: 2, x: 16, form: ribbed, apart: 0.04 },
  ];
  const { session_id } = await cloud(made, stand(trees));
  const list = await tail(made, TreeInventoryTail, `/api/cloud/session/${session_id}/tree_inventory`, {});
  const [thick, wide] = list.trees;
  expect(thick).toMatchObject({ tree_id: 1, foot: null, flags: [] });
  expect(thick?.dbh_m).toBeCloseTo(4.2 * (1 - 1.3 / 60), 1);
  expect(thick?.flat_share).toBeLessThan(0.1);
  expect(wide?.flags).toEqual(["buttressed"]);
  expect(wide?.foot?.top_m).toBeGreaterThan(1.9);
  expect(wide?.foot?.diameter_m).toBeCloseTo(0.8 * (1 - (wide?.foot?.axial_m ?? 0) / 40), 1);
  expect(list.warnings).toContainEqual(
    expect.stringMatching(/^One tree has buttresses.*tree 2: 0\.\d+ m, 0\.7\d m at/),
  );
});

test("auto makes one tree of each", async () => {
  const trees = [
    { id: 1, x: 0, form: giant, apart: 0.07 },
    { id: 2, x: 16, form: ribbed, apart: 0.04 },
  ];
  const rows = stand(trees).map((row) => row.split(" ").filter((_, i) => i !== 3));
  const { session_id } = await cloud(
    made,
    rows.map((row) => row.join(" ")),
  );
  const url = `/api/cloud/session/${session_id}/segment_trees`;
  const answer = await answered(made, SessionTreesResponse, url, { method: "auto" });
  expect(answer.num_trees).toBe(2);
  expect(answer.warnings.join()).not.toContain("flat surfaces");
});
