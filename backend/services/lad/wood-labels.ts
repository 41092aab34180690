import type { LadRequest } from "../../../shared/contract/lad-compute.ts";
import type { WoodSplit } from "../../../shared/contract/lad-scan.ts";
import { AppError } from "../../../shared/errors.ts";
import { WOOD_PROJECTION } from "../../../shared/limits.ts";
import type { Job } from "../../jobs/job.ts";
import { hitMask } from "../../native/cloud/cloud.ts";
import { selectRows } from "../../native/cloud/edit.ts";
import { combineMasks } from "../../native/cloud/masks.ts";
import type { NativeColumn } from "../../native/core/handles.ts";
import { SUM_FIELDS, SUM_HITS } from "../../native/lad.ts";
import * as native from "../../native/lad-inversion.ts";
import { ColumnRef } from "../../sessions/column-ref.ts";
import type { VoxelValues } from "./cells.ts";
import type { LadGrid } from "./grid.ts";
import type { ReadScan, ScanLabels } from "./scans/scans.ts";

const refused = (message: string) => new AppError("invalid_argument", message);

/** Memory for masks of labels of so many rows, and counts of so many voxels, bytes. */
export const woodLabelBytes = (rows: number, cells: number) => 4 * rows + (4 + 4 + 8 + 8 + 16) * cells;

/** Errors: invalid_argument for a label that is wood and leaf. */
export function checkWoodSplit({ wood_split }: LadRequest): void {
  const both = wood_split?.wood_values.filter((value) => wood_split.leaf_values.includes(value)) ?? [];
  if (both.length > 0) throw refused(`wood_split: ${both[0]} is a label of wood and of leaves.`);
}

/** The scans with the labels of their hits. Errors: invalid_argument if none has any. */
export async function labelledScans(scans: readonly ReadScan[], split: WoodSplit, job: Job): Promise<ReadScan[]> {
  const out: ReadScan[] = [];
  for (const scan of scans) {
    const column = scan.extra(split.slug);
    out.push(column ? { ...scan, labels: await labelsOf(scan, column, split, job.quiet()) } : scan);
  }
  if (out.every(({ labels }) => !labels))
    throw refused(`wood_split needs the column ${split.slug}, and no scan has it: segment the wood first.`);
  return out;
}

async function labelsOf({ beams }: ReadScan, column: NativeColumn, split: WoodSplit, job: Job): Promise<ScanLabels> {
  const { positions, is_miss, deleted } = beams;
  const hits = await job.track(() => hitMask(is_miss, deleted, positions.length));
  const skip = hits.skip ? job.adopt(new ColumnRef(hits.skip)).native : null;
  const rowsOf = async (values: readonly number[]) => {
    const filter = { column, min: 0, max: 0, values };
    const named = job.adopt(
      new ColumnRef(await job.track(() => selectRows({ positions, regions: [], filters: [filter] }))),
    ).native;
    if (!skip) return named;
    const terms = [
      { mask: named, invert: false },
      { mask: skip, invert: true },
    ];
    return job.adopt(new ColumnRef((await job.track(() => combineMasks(terms, "and"))).mask)).native;
  };
  return { wood: await rowsOf(split.wood_values), leaf: await rowsOf(split.leaf_values) };
}

/** Hits of every voxel by label; the run owns the columns. */
export async function voxelLabels(scans: readonly ReadScan[], { box }: LadGrid, job: Job): Promise<native.HitLabels> {
  const counted = async (of: (labels: ScanLabels) => NativeColumn) => {
    const rows = scans.flatMap(({ beams: { positions, shift }, labels }) =>
      labels ? [{ positions, shift, is_counted: of(labels) }] : [],
    );
    return job.adopt(new ColumnRef(await job.quiet().track(() => native.hitCounts(rows, box)))).native;
  };
  return { wood: await counted(({ wood }) => wood), leaf: await counted(({ leaf }) => leaf), wood_g: WOOD_PROJECTION };
}

/** Rows of a scan that are left out of triangles of leaves: those of `skip`, and wood. */
export async function withoutWood({ labels }: ReadScan, skip: NativeColumn | null, job: Job) {
  if (!labels) return skip;
  if (!skip) return labels.wood;
  const terms = [
    { mask: skip, invert: false },
    { mask: labels.wood, invert: false },
  ];
  return job.adopt(new ColumnRef((await job.track(() => combineMasks(terms, "or"))).mask)).native;
}

/** Share of the hits in the grid that may lack a label without a word. */
const FEW = 0.005;

const PLANT_AREA =
  "Wood that the beams met counts as leaves, and so do stems and stalks: without wood_split total_leaf_area is plant area. In simulated trees wood added 21 to 27 %; stalks have a quarter of the leaf area of maize, a third of that of sorghum. Label the wood (segment_wood) and send wood_split to leave it out.";

/** Warnings about hits that count as leaves though they may be none. */
export function labelWarnings(
  scans: readonly ReadScan[],
  split: WoodSplit | null | undefined,
  values: VoxelValues,
): string[] {
  const counts = hitsOf(values);
  if (!split) return counts.hits > 0 ? [PLANT_AREA] : [];
  const without = scans.filter(({ labels }) => !labels).map(({ notes }) => notes.name);
  const told =
    without.length > 0
      ? [`${without.slice(0, 10).join(", ")} without the column ${split.slug}: its hits have no label.`]
      : [];
  const { hits, labelled } = counts;
  if (hits - labelled > FEW * hits)
    told.push(
      `${hits - labelled} of ${hits} hits in the grid have neither a label of wood nor of leaves; voxels without any are taken as leaves.`,
    );
  return told;
}

/** Totals of the wood, as the answer has them. */
export const woodTotals = ({ wood }: VoxelValues, { wood_area_m2 }: native.InvertedBeams["totals"]) => ({
  has_wood_classification: wood !== null,
  total_wood_area: wood && wood_area_m2,
  wood_gtheta: wood?.wood_g ?? null,
  wood_gtheta_source: wood && ("default" as const),
  wood_axis_triangles: 0 as const,
});

/** Hits in the grid, and those with a label. */
function hitsOf({ sums, wood }: VoxelValues) {
  let [hits, labelled] = [0, 0];
  for (let at = SUM_HITS; at < sums.length; at += SUM_FIELDS) hits += sums[at] ?? 0;
  for (let v = 0; v < (wood?.wood.length ?? 0); v += 1) labelled += (wood?.wood[v] ?? 0) + (wood?.leaf[v] ?? 0);
  return { hits, labelled };
}
