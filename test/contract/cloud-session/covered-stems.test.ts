// Stems that ivy covers.
import { expect, test } from "vitest";
import { TreeInventoryTail } from "../../../shared/contract/cloud-session/tree-inventory.ts";
import { gaussian, uniform } from "../../accuracy/random.ts";
import { cloud, tail } from "../../support/session/session-edits.ts";
import { sessionTest } from "../../support/session/session-test.ts";

const made = sessionTest({ listening: true });

const DBH_M = 0.32;
const radius = (z: number) => DBH_M / 2 - 0.005 * (z - 1.3);

interface IvyTree {
  readonly id: number;
  readonly x: number;
  /** Heights of bark that is seen, and of leaves, metres. */
  readonly bark: readonly [number, number];
  readonly ivy: readonly [number, number];
}

/** Stems of 9 m with round crowns and leaves of 6 cm before the bark, on level ground. */
function stand(trees: readonly IvyTree[]): string[] {
  const next = uniform(9);
  const rows = ["x y z tree_instance height_above_ground ground_class"];
  const add = (x: number, y: number, z: number, id: number, ground: number) => {
    if (z >= 0) rows.push(`${x.toFixed(4)} ${y.toFixed(4)} ${z.toFixed(4)} ${id} ${z.toFixed(4)} ${ground}`);
  };
  for (let x = -6; x <= 18; x += 0.5) for (let y = -6; y <= 6; y += 0.5) add(x, y, 0, 0, 1);
  for (const { id, x, bark, ivy } of trees) {
    for (let i = 0; i < 1800 * (bark[1] - bark[0]); i += 1) {
      const [z, turn] = [bark[0] + (bark[1] - bark[0]) * next(), 2 * Math.PI * next()];
      const r = radius(z) + 0.003 * gaussian(next);
      add(x + r * Math.cos(turn), r * Math.sin(turn), z, id, 2);
    }
    for (let i = 0; i < 600 * (ivy[1] - ivy[0]); i += 1) {
      const [z, turn, tilt] = [ivy[0] + (ivy[1] - ivy[0]) * next(), 2 * Math.PI * next(), Math.PI * next()];
      const r = radius(z) + 0.05 + 0.1 * next();
      for (let k = 0; k < 12; k += 1) {
        const [across, along] = [0.06 * (next() - 0.5), 0.06 * (next() - 0.5)];
        const [out, way] = [r + across * Math.cos(tilt), turn + (across * Math.sin(tilt)) / r];
        add(x + out * Math.cos(way), out * Math.sin(way), z + along, id, 2);
      }
    }
    for (let i = 0; i < 2500; i += 1) {
      const [turn, up, part] = [2 * Math.PI * next(), 2 * next() - 1, next()];
      const level = 2.5 * (0.5 + 0.5 * part) * Math.sqrt(1 - up * up);
      add(x + level * Math.cos(turn), level * Math.sin(turn), 11 + 2.5 * up, id, 2);
    }
  }
  return rows;
}

test("bark between the leaves of ivy has the diameter, and a stem without any is told and has none", async () => {
  const { session_id } = await cloud(
    made,
    stand([
      { id: 1, x: 0, bark: [0, 9], ivy: [0, 4] },
      { id: 2, x: 6, bark: [2.3, 9], ivy: [0, 2.3] },
      { id: 3, x: 12, bark: [0, 9], ivy: [0, 0] },
    ]),
  );
  const list = await tail(made, TreeInventoryTail, `/api/cloud/session/${session_id}/tree_inventory`, {});
  const [ivy, covered, bare] = list.trees;
  expect(Math.abs((ivy?.dbh_m ?? 0) - DBH_M)).toBeLessThan(0.004);
  expect(ivy?.dbh?.sigma_m).toBeLessThan(0.004);
  expect(ivy?.flags).toEqual([]);
  expect(covered?.dbh_m).toBeNull();
  expect(covered?.flags).toEqual(["covered", "no_stem"]);
  expect(Math.abs((bare?.dbh_m ?? 0) - DBH_M)).toBeLessThan(0.002);
  expect(list.warnings).toContainEqual(
    expect.stringMatching(/^1 of 3 stems is covered at breast height by leaves.*\(flags: covered; tree 2\)/),
  );
  const above = list.stem_curve.filter(({ tree_id, ok, axial_m }) => tree_id === 2 && ok && axial_m < 8);
  expect(above.length).toBeGreaterThan(5);
  for (const { axial_m, diameter_m } of above) expect(Math.abs(diameter_m - 2 * radius(axial_m))).toBeLessThan(0.01);
});
