// Crops of labelled clouds as the network sees them, in files for scripts/train.
import { writeFileSync } from "node:fs";
import { Job } from "../../backend/jobs/job.ts";
import * as native from "../../backend/native/wood-model.ts";
import { ORGAN } from "./forest/stand.ts";
import { column, positions, values } from "./native.ts";
import type { LabelledCloud } from "./wood-variants.ts";

/** Of the bundled model: resources/ml_models. */
export const MODEL_INPUT = {
  finest_m: 0.005,
  coarsest_m: 0.02,
  most_single: 0.8,
  kinds: ["dxyz", "local_geometry", "path", "lines"],
  levels: 2,
  neighbors: 16,
} as const satisfies native.VoxelEdges & {
  kinds: readonly native.FeatureKind[];
  levels: number;
  neighbors: number;
};

const NO_VOXEL = 0xffffffff;

interface Counts {
  readonly wood: Float32Array;
  readonly leaf: Float32Array;
  readonly twig: Float32Array;
}

async function countsOf(
  cloud: native.NativeVoxelCloud,
  voxels: number,
  labels: LabelledCloud,
  job: Job,
): Promise<Counts> {
  const table = await job.track(() => native.voxelColumns(cloud));
  const voxel = values(table.voxel_of);
  for (const one of [table.features, table.voxel_of, table.places]) one.release();
  const out = { wood: new Float32Array(voxels), leaf: new Float32Array(voxels), twig: new Float32Array(voxels) };
  for (const [i, organ] of labels.organ.entries()) {
    const v = Number(voxel[i]);
    if (v === NO_VOXEL) continue;
    const to = organ === ORGAN.wood ? out.wood : out.leaf;
    to[v] = (to[v] ?? 0) + 1;
    if (labels.twig[i]) out.twig[v] = (out.twig[v] ?? 0) + 1;
  }
  return out;
}

/**
 * Writes one file per crop: a line of JSON {rows, width, neighbors, ..about}, then little endian f32 features (rows, width),
 * i64 neighbours (rows, neighbors), f32 wood, leaf and twig points of each row, u32 voxel of each row. Returns the crops.
 *
 * most  crops to write
 * keep  which of the crops are written
 */
export async function writeCrops(
  path: string,
  labels: LabelledCloud,
  options: {
    readonly max_voxels: number;
    readonly inner_fraction: number;
    readonly keep: (crop: number) => boolean;
    readonly most: number;
  },
  about: Readonly<Record<string, unknown>>,
): Promise<number> {
  const job = new Job();
  const xyz = positions(labels.xyz);
  const skip = column("u8", new Uint8Array(labels.organ.length));
  const started = process.cpuUsage();
  const { levels, neighbors, ...cloud_params } = MODEL_INPUT;
  const made = await job.track(() => native.voxelCloud(xyz, skip, null, { ...cloud_params, enlarge_to_m: 0 }));
  const { user } = process.cpuUsage(started);
  const counts = await countsOf(made.cloud, made.voxel_count, labels, job);
  const params = {
    levels,
    neighbors,
    max_voxels: options.max_voxels,
    inner_fraction: options.inner_fraction,
    class_count: 2,
    hops: 0,
  };
  const crops = await job.track(() => native.voxelCrops(made.cloud, params));
  let written = 0;
  for (let k = 0; written < options.most; k += 1) {
    const crop = await job.track(() => native.nextCrop(crops));
    if (!crop) break;
    await job.track(() => native.voteCrop(crops, new Float32Array(2 * crop.voxel_count)));
    if (!options.keep(k)) continue;
    const rows = new Uint32Array(crop.voxels);
    const of = (all: Float32Array) => Float32Array.from(rows, (v) => all[v] ?? 0);
    const header = {
      rows: rows.length,
      width: crop.features.byteLength / 4 / rows.length,
      neighbors: MODEL_INPUT.neighbors,
      voxels: made.voxel_count,
      voxel_m: made.voxel_m,
      points: labels.organ.length,
      feature_s: user / 1e6,
      ...about,
    };
    const blocks = [crop.features, crop.levels[0]?.neighbors, of(counts.wood), of(counts.leaf), of(counts.twig), rows];
    const bytes = blocks.map((one) =>
      one instanceof ArrayBuffer ? Buffer.from(one) : Buffer.from(one?.buffer ?? new ArrayBuffer(0)),
    );
    writeFileSync(`${path}_${k}.crop`, Buffer.concat([Buffer.from(`${JSON.stringify(header)}\n`), ...bytes]));
    written += 1;
  }
  for (const one of [crops, made.cloud, xyz, skip]) one.release();
  return written;
}
