import { z } from "zod";
import { isKnown, profileOf } from "../../../shared/client/lad-profile.ts";
import { LadRequest, type LadSuccess } from "../../../shared/contract/lad-compute.ts";
import type { VoxelGrid } from "../../../shared/contract/voxel-grid.ts";
import { strings } from "../strings.ts";
import type { WorldBox } from "../view/cloud-view.ts";
import type { Cloud } from "../workflow/clouds.ts";
import { count, fileStem, measure } from "../workflow/format.ts";
import { cloudOperation } from "./operation.ts";
import { ScannerPosition, scannerOf } from "./scanner-position.ts";
import { voxelMesh } from "./voxel-mesh.ts";

const words = strings.workflow.operations.lad;

const LadForm = LadRequest.pick({
  min_voxel_hits: true,
  element_width: true,
  gtheta_override: true,
  gtheta: true,
  fill_occluded: true,
}).extend({ voxel_m: z.number().positive().default(1), ...ScannerPosition.shape });

/** Leaf area density of voxels around the cloud. */
export const lad = cloudOperation({
  id: "lad",
  schema: LadForm,
  words,
  run: async ({ voxel_m, scanner_x, scanner_y, scanner_z, ...request }, { client, cloud, run, view, scene }) => {
    const origin = scannerOf({ scanner_x, scanner_y, scanner_z }, cloud);
    const box = boxOf(cloud) ?? view.bounds();
    if (!box) throw new Error(words.noBounds);
    const scans = [{ session_id: cloud.session_id, origin, label: cloud.name }];
    const answer = await client.ladCompute({ ...request, scans, grid: gridOf(box, voxel_m ?? 1) }, run);
    const name = words.name(cloud.name);
    const { mesh, left_out } = voxelMesh(name, answer);
    if (mesh) scene.add({ kind: "voxels", name }, view.addMesh(mesh));
    return {
      facts: [
        [words.facts.area, measure(answer.total_leaf_area, "m²", 1)],
        [words.facts.mean, measure(answer.group_lad_mean, "m²/m³", 3)],
        [words.facts.voxels, `${answer.nx} × ${answer.ny} × ${answer.nz}`],
        [words.facts.occluded, count(answer.under_sampled_count)],
      ],
      warnings: [...answer.warnings, ...(left_out > 0 ? [words.leftOut(left_out)] : [])],
      bars: { title: words.profile, unit: "m²/m³", rows: barsOf(answer) },
      file: { name: `${fileStem(cloud.name)}-lad.csv`, content: csvOf(answer), type: "text/csv" },
    };
  },
});

/** The cloud's extent in true world coordinates. */
function boxOf({ octree, world_shift }: Cloud): WorldBox | null {
  const box = octree?.tight_bounds;
  if (!box) return null;
  const [x, y, z] = world_shift ?? [0, 0, 0];
  return {
    min: [box.min[0] + x, box.min[1] + y, box.min[2] + z],
    max: [box.max[0] + x, box.max[1] + y, box.max[2] + z],
  };
}

/** Whole voxels around the box, with its centre. */
function gridOf({ min, max }: WorldBox, edge_m: number): z.input<typeof VoxelGrid> {
  const cells = min.map((low, axis) => Math.max(1, Math.ceil(((max[axis] ?? low) - low) / edge_m + 1e-6)));
  const [nx = 1, ny = 1, nz = 1] = cells;
  return {
    center: [(min[0] + max[0]) / 2, (min[1] + max[1]) / 2, (min[2] + max[2]) / 2],
    size: [nx * edge_m, ny * edge_m, nz * edge_m],
    nx,
    ny,
    nz,
  };
}

/** Mean density of the measured voxels of each layer, from the top. */
export function barsOf(answer: LadSuccess): (readonly [string, number])[] {
  const measured = profileOf(answer).levels.filter(({ measured_count }) => measured_count > 0);
  const floor = answer.bounds[0][2];
  return measured.map(({ height_m, mean_lad }) => [measure(floor + height_m, "m", 1), mean_lad] as const).reverse();
}

/** Of voxels with a density: occluded ones have none, and interpolated ones are marked. */
const DENSITIES = ["lad", "leaf_area", "lad_std"] as const;
const COUNTS = ["hit_count", "beam_count", "lad_solved", "under_sampled", "lad_filled"] as const;

export function csvOf({ cells }: LadSuccess): string {
  const rows = cells.map((cell) => {
    const densities = DENSITIES.map((name) => (isKnown(cell) ? (cell[name] ?? "") : ""));
    return [...cell.center, ...densities, ...COUNTS.map((name) => cell[name] ?? "")].join(",");
  });
  return `${["x_m", "y_m", "z_m", ...DENSITIES, ...COUNTS].join(",")}\n${rows.join("\n")}\n`;
}
