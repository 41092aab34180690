import type { LadSuccess } from "../../../shared/contract/lad-compute.ts";
import type { Job } from "../../jobs/job.ts";
import { type BeamScan, SUM_FIELDS, SUM_HITS, traceBeams } from "../../native/lad.ts";
import { VOXEL } from "../../native/lad-inversion.ts";
import type { VoxelBox } from "../../native/surfaces.ts";
import { ColumnRef } from "../../sessions/column-ref.ts";
import { copyOut, flagsColumn, numbersColumn } from "../run/points.ts";
import type { VoxelValues } from "./cells.ts";
import type { LadGrid } from "./grid.ts";
import { allBeams, everyRow, type ReadScan } from "./scans/scans.ts";

/** What nothing passes: fewer beams than this tell nothing. */
const ENOUGH_BEAMS = 30;
/** Hits with noise may lie a little below the ground: part of the beams that would go on below. */
const FEW_BELOW = 0.02;

/** Of the columns with hits, and of the leaf area, from where on a floor is told. */
const NOTABLE_COLUMNS = 0.1;
const NOTABLE_AREA = 0.01;

/** The lowest voxel of each column that beams reach, and what lies in it. */
interface LowestVoxels {
  /** Layer; -1 = no beam reaches the column, or hardly any, or none ends in it. */
  readonly layer: Int32Array;
  /** Columns with hits. */
  readonly with_hits: number;
}

function lowestVoxels({ sums }: VoxelValues, { nx, ny, nz }: VoxelBox): LowestVoxels {
  const columns = nx * ny;
  const lowest = new Int32Array(columns).fill(-1);
  const hit = new Uint8Array(columns);
  for (let k = 0, at = 0; k < nz; k += 1)
    for (let c = 0; c < columns; c += 1, at += SUM_FIELDS) {
      if ((sums[at + SUM_HITS] ?? 0) > 0) hit[c] = 1;
      if ((lowest[c] ?? 0) < 0 && (sums[at] ?? 0) > 0) lowest[c] = k;
    }
  const layer = lowest.map((k, c) => {
    const at = (c + k * columns) * SUM_FIELDS;
    return k >= 0 && (sums[at] ?? 0) >= ENOUGH_BEAMS && (sums[at + SUM_HITS] ?? 0) > 0 ? k : -1;
  });
  return { layer, with_hits: hit.reduce((sum, one) => sum + one, 0) };
}

/** A voxel below the lowest of each column. */
function layerBelow({ box, edges, offsets, kept }: LadGrid, layer: Int32Array, job: Job): VoxelBox {
  const raised = Array.from(layer, (k, c) => (offsets?.[c] ?? 0) + Math.max(0, k) * edges[2]);
  const looked = Array.from(layer, (k, c) => k >= 0 && kept?.[c] !== 0);
  const bottom = box.center[2] - box.size[2] / 2;
  return {
    ...box,
    center: [box.center[0], box.center[1], bottom - edges[2] / 2],
    size: [box.size[0], box.size[1], edges[2]],
    nz: 1,
    offsets: job.adopt(numbersColumn(raised)).native,
    kept: job.adopt(flagsColumn(looked)).native,
  };
}

/** Number of the beams that reach each voxel of one layer. */
async function beamCounts(scans: readonly BeamScan[], box: VoxelBox, job: Job): Promise<Float64Array> {
  const { sums, reach } = await job.track(() => traceBeams(scans, box, null));
  const held = [sums, reach].flatMap((column) => (column ? [new ColumnRef(column)] : []));
  try {
    const all = new Float64Array(SUM_FIELDS * box.nx * box.ny);
    await copyOut(sums, new Uint8Array(all.buffer));
    return Float64Array.from({ length: box.nx * box.ny }, (_, c) => all[c * SUM_FIELDS] ?? 0);
  } finally {
    for (const one of held) one.release();
  }
}

/** The same beams as if nothing had stopped them. */
async function unstopped(scans: readonly BeamScan[], job: Job): Promise<BeamScan[]> {
  const out: BeamScan[] = [];
  for (const scan of scans) out.push({ ...scan, is_miss: await everyRow(scan.positions.length, job), shares: null });
  return out;
}

/** Columns below whose lowest voxel nothing is seen, though beams would go on there: what ends them is opaque, as the ground. */
export async function opaqueFloor(
  scans: readonly ReadScan[],
  values: VoxelValues,
  grid: LadGrid,
  job: Job,
): Promise<{ readonly floor: LadSuccess["opaque_floor"]; readonly warnings: readonly string[] }> {
  const { layer, with_hits } = lowestVoxels(values, grid.box);
  const none = { floor: { column_count: 0, column_share: 0, leaf_area: 0 }, warnings: [] };
  if (layer.every((k) => k < 0)) return none;
  const { passed, could } = await job.scoped(async (part) => {
    const below = layerBelow(grid, layer, part);
    const beams = allBeams(scans);
    return {
      passed: await beamCounts(beams, below, part),
      could: await beamCounts(await unstopped(beams, part), below, part),
    };
  });
  const columns = layer.length;
  const volume = grid.edges[0] * grid.edges[1] * grid.edges[2];
  let [column_count, leaf_area, total] = [0, 0, 0];
  const areaOf = (v: number) => {
    const bits = values.state[v] ?? 0;
    const measured = (bits & VOXEL.solved) !== 0 && (bits & (VOXEL.occluded | VOXEL.filled)) === 0;
    return measured ? (values.lad[v] ?? 0) * volume : 0;
  };
  for (let v = 0; v < values.lad.length; v += 1) total += areaOf(v);
  for (let c = 0; c < columns; c += 1) {
    const [k = -1, would = 0, did = 0] = [layer[c], could[c], passed[c]];
    if (k < 0 || would < ENOUGH_BEAMS || did > FEW_BELOW * would) continue;
    column_count += 1;
    leaf_area += areaOf(c + k * columns);
  }
  const column_share = with_hits > 0 ? column_count / with_hits : 0;
  const notable = column_share >= NOTABLE_COLUMNS && leaf_area >= NOTABLE_AREA * total;
  return {
    floor: { column_count, column_share, leaf_area },
    warnings: notable ? [told(column_count, leaf_area, total, with_hits)] : [],
  };
}

function told(columns: number, area: number, total: number, with_hits: number): string {
  const held =
    total > 0
      ? `These voxels hold ${Number(area.toPrecision(3))} m2, ${((100 * area) / total).toFixed(0)} % of total_leaf_area; voxels above them may hold ground, too.`
      : "All voxels are occluded, so total_leaf_area is 0.";
  return `In ${columns} of ${with_hits} columns with hits nothing passes the lowest voxel that beams reach, as at the ground: hits on the ground count as leaves. ${held} Raise the columns onto a terrain (terrain_follow with dem), or let the grid begin above the ground.`;
}
