import { expect, test } from "vitest";
import * as native from "../../../../backend/native/inventory.ts";
import { movedOrigin } from "../../../../backend/services/trees/moved-origin.ts";
import { INVENTORY_CONSTANTS, INVENTORY_DEFAULTS } from "../../../../shared/contract/cloud-session/tree-inventory.ts";
import { column, coordinatesOf, positions } from "../../../accuracy/native.ts";

/** Stems on a grid, each seen all around by two scans, the second moved and turned. */
function twoScans() {
  const [xyz, tree, scan, height]: [number[], number[], number[], number[]] = [[], [], [], []];
  for (let stem = 0; stem < 9; stem += 1)
    for (const one of [1, 2])
      for (let i = 0; i < 1500; i += 1) {
        const [turn, z] = [(2 * Math.PI * i * 0.618) % (2 * Math.PI), (4 * i) / 1500];
        const x = 5 * (stem % 3) + 0.15 * Math.cos(turn);
        const y = 5 * Math.floor(stem / 3) + 0.15 * Math.sin(turn);
        xyz.push(...(one === 1 ? [x, y, z] : [x - 0.01 * y + 0.05, y + 0.01 * x, z]));
        tree.push(stem + 1);
        scan.push(one);
        height.push(z);
      }
  return { xyz: Float64Array.from(xyz), tree, scan, height };
}

test("scanners move as points of their scan at the same place do", async () => {
  const { xyz, tree, scan, height } = twoScans();
  const shift = [4e5, 5e6, 0] as const;
  const points = positions(xyz);
  const cloud = {
    positions: points,
    skip: null,
    tree_instance: column("u32", Uint32Array.from(tree)),
    height_above_ground: column("f32", Float32Array.from(height)),
    ground_class: null,
    scan_index: column("u8", Uint8Array.from(scan)),
    shift,
  };
  const { slice_widen_m, ...constants } = INVENTORY_CONSTANTS;
  const params = { ...INVENTORY_DEFAULTS, ...constants, slice_widen_m, tree_ids: null };
  const found = await native.alignScans(cloud, params, points).promise;
  if (!found.positions || !found.beam_origins) throw new Error("nothing was moved");
  expect(found.scans.map(({ scan_index }) => scan_index)).toEqual([1, 2]);
  expect((found.scans[0]?.turn_rad ?? 0) - (found.scans[1]?.turn_rad ?? 0)).toBeCloseTo(0.01, 4);
  const moved = coordinatesOf(found.positions);
  expect(coordinatesOf(found.beam_origins)).toEqual(moved);
  for (const row of [0, 1500, 12_000, 26_999]) {
    const origin = [...xyz.subarray(3 * row, 3 * row + 3)] as [number, number, number];
    const there = movedOrigin({ scan_index: scan[row] ?? 0, origin }, found, [...shift]);
    for (const [axis, value] of there.entries()) expect(value).toBeCloseTo(moved[3 * row + axis] ?? Number.NaN, 5);
  }
  const origin = [1, 2, 3] as [number, number, number];
  expect(movedOrigin({ scan_index: 7, origin }, found, null)).toEqual(origin);
});
