// Whole plots whose wood is known, without tree labels: generated stands, and the plot of real trees.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { addon } from "../../backend/native/core/addon.ts";
import { DATA } from "../support/scans/data-folder.ts";
import { buildStand, EVERY, ORGAN } from "./forest/stand.ts";
import { coordinatesOf, values } from "./native.ts";
import type { WoodCloud } from "./wood-clouds.ts";

/** With crowns that meet, and with understorey. No training and no choice of a constant took stands of this number. */
const KINDS = ["interlocked", "understorey"] as const;
const [SEED, SIDE_M, POSITIONS] = [9001, 25, 4];
const GROUND = 1;

/** The rows that are kept, with their truth. */
function picked(name: string, xyz: Float64Array, truth: ArrayLike<number>, keeps: (row: number) => boolean): WoodCloud {
  const rows = Array.from({ length: xyz.length / 3 }, (_, i) => i).filter(keeps);
  const out = new Float64Array(3 * rows.length);
  for (const [k, row] of rows.entries()) out.set(xyz.subarray(3 * row, 3 * row + 3), 3 * k);
  return { name, xyz: out, truth: Uint8Array.from(rows, (row) => Number(truth[row])) };
}

async function* generated(): AsyncGenerator<WoodCloud> {
  for (const kind of KINDS) {
    const { points } = await buildStand({ kind, seed: SEED, positions: POSITIONS, side: SIDE_M, every: EVERY });
    const truth = Uint8Array.from(points.organ, (organ) => (organ === ORGAN.wood ? 1 : 2));
    yield picked(`${kind}, ${SIDE_M} m, ${POSITIONS} positions`, points.xyz, truth, (row) => {
      return points.organ[row] !== ORGAN.ground;
    });
  }
}

/** Of its five trees only some have labels: the others, of truth 0, stand there unscored. */
async function composite(path: string): Promise<WoodCloud> {
  const frame = { unit_scale: 1, shift: [0, 0, 0] as const };
  const cloud = await addon.readLas(path, { frame, first_row: 0, row_count: null, skip_columns: [] }).promise;
  const named = (name: string) => {
    const found = cloud.columns.find((one) => one.name === name);
    if (!found) throw new Error(`${path} has no ${name}`);
    return Array.from(values(found.column), Number);
  };
  const [wood, ground] = [named("wood_class"), named("ground_class")];
  return picked("composite_plot_a", coordinatesOf(cloud.positions), wood, (row) => ground[row] !== GROUND);
}

/** Two generated stands, and composite_plot_a where the data is there: two of its trees are those of leaf_wood. */
export async function* woodStands(): AsyncGenerator<WoodCloud> {
  yield* generated();
  const path = join(DATA, "trees_composite", "composite_plot_a.laz");
  if (existsSync(path)) yield await composite(path);
}
