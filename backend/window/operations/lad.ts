import { z } from "zod";
import { LadRequest, type LadSuccess } from "../../../shared/contract/lad-compute.ts";
import type { VoxelGrid } from "../../../shared/contract/voxel-grid.ts";
import { strings } from "../strings.ts";
import type { WorldBox } from "../view/cloud-view.ts";
import type { Cloud } from "../workflow/clouds.ts";
import { count, fileStem, measure } from "../workflow/format.ts";
import { cloudOperation } from "./operation.ts";
import { ScannerPosition, scannerOf } from "./scanner-position.ts";
import { isKnown, voxelMesh } from "./voxel-mesh.ts";

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
      bars: { title: words.profile, unit: "m²/m³", rows: profileOf(answer) },
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

/** Mean density of the solved voxels of each layer, from the top. */
function profileOf({ cells, nx, ny, nz, bounds, grid_size }: LadSuccess): (readonly [string, number])[] {
  const rows: (readonly [string, number])[] = [];
  for (let layer = nz - 1; layer >= 0; layer -= 1) {
    const solved = cells.filter((cell) => isKnown(cell) && Math.floor(cell.index / (nx * ny)) === layer);
    const height = bounds[0][2] + ((layer + 0.5) * grid_size[2]) / nz;
    if (solved.length > 0)
      rows.push([measure(height, "m", 1), solved.reduce((sum, { lad }) => sum + lad, 0) / solved.length]);
  }
  return rows;
}

const COLUMNS = [
  "lad",
  "leaf_area",
  "lad_std",
  "hit_count",
  "beam_count",
  "lad_solved",
  "under_sampled",
  "lad_filled",
] as const;

function csvOf({ cells }: LadSuccess): string {
  const rows = cells.map((cell) => [...cell.center, ...COLUMNS.map((name) => cell[name] ?? "")].join(","));
  return `${["x_m", "y_m", "z_m", ...COLUMNS].join(",")}\n${rows.join("\n")}\n`;
}
