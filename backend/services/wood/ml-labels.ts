import { availableParallelism } from "node:os";
import { WOOD_LEAF_TASK } from "../../../shared/contract/ml.ts";
import { AppError } from "../../../shared/errors.ts";
import { MAX_NETWORK_THREADS, MIB } from "../../../shared/limits.ts";
import type { Deps } from "../../deps.ts";
import type { Job } from "../../jobs/job.ts";
import { hitMask, toF32 } from "../../native/cloud/cloud.ts";
import { classCounts, concatColumns } from "../../native/cloud/edit.ts";
import type { NativeColumn } from "../../native/core/handles.ts";
import * as native from "../../native/wood-model.ts";
import { ColumnRef } from "../../sessions/column-ref.ts";
import { mlDevice } from "../ml/device.ts";
import { levelsOf } from "../ml/graph-check.ts";
import { findModel, type InstalledModel } from "../ml/library.ts";
import { type NetworkProcess, withNetwork } from "../ml/network.ts";
import { type ReadPackage, readPackage } from "../ml/package.ts";
import type { Tensor } from "../ml/tensor-frames.ts";
import { logitsOf } from "../ml/trial.ts";

/** Points that a network labels. */
export interface MlInput {
  /** Metres, z up. */
  readonly positions: NativeColumn;
  /** u8 per row, non-zero = no hit; null = all rows are hits. */
  readonly skip: NativeColumn | null;
  /** Per row, any scalar type; null = none. */
  readonly reflectance: NativeColumn | null;
}

export interface MlLabels {
  /** u8 per row: 0 = no hit, else a class of the model; leaf where a position is not finite. The run owns the column. */
  readonly labels: ColumnRef;
  /** Hits with a position that is not finite. */
  readonly non_finite: number;
  readonly voxel_count: number;
  /** Edge of the voxels, metres. */
  readonly voxel_m: number;
  readonly warnings: readonly string[];
}

/** A model that is ready to run, with the device for it. */
export interface MlPlan {
  readonly model: InstalledModel;
  readonly provider: "cpu" | "cuda";
}

/** Span of the smallest trees that networks know, metres: smaller plants are shown enlarged to it. */
const TREE_SPAN_M = 2;
const LEAF = 2;
const NO_HIT = 0;
/** Stands for leaf until it is counted. */
const NOT_FINITE = 3;
/** A point of a plant that is enlarged. */
const ENLARGED_BYTES = 24;
/** A process of a network without a network. */
const PROCESS_BYTES = 160 * MIB;
/** Values of the network's layers that are in memory at a time, per value of its widest input. */
const LIVE_LAYERS = 6;

/**
 * The model of a request and where it runs. Errors: invalid_argument if the model is not installed or no wood and leaf
 * model, unsupported without the optional runtime.
 */
export async function planMl(modelId: string | null, deps: Pick<Deps, "config" | "deviceInfo">): Promise<MlPlan> {
  const model = await findModel(modelId, WOOD_LEAF_TASK, deps);
  const { runtime, device, reason } = await mlDevice(deps);
  if (runtime === null) throw new AppError("unsupported", reason);
  return { model, provider: device === "cuda" ? "cuda" : "cpu" };
}

/** Upper estimate of the memory of mlLabels, with that of the process of the network. */
export function mlLabelsBytes(points: number, { model: { model } }: MlPlan): number {
  const { hparams, hierarchy, crop } = model;
  const layer = 4 * crop.max_points * hierarchy.k * Math.max(hparams.in_channels, 64);
  return (
    ENLARGED_BYTES * points +
    native.voxelNetworkBytes(points, {
      features: hparams.in_channels,
      classes: hparams.num_classes,
      neighbors: hierarchy.k,
    }) +
    PROCESS_BYTES +
    LIVE_LAYERS * layer
  );
}

/**
 * Labels points with a network: voxels, crops around voxels that no crop has claimed, votes of overlapping crops.
 * Deterministic for any number of threads and order of the points. `threads`: of the network; 0 = those of the machine.
 * Errors: conflict if the model was changed or removed since the plan; those of NetworkProcess; `canceled`.
 */
export async function mlLabels(input: MlInput, plan: MlPlan, job: Job, threads = job.threads): Promise<MlLabels> {
  const read = await readAgain(plan.model);
  const { model } = read;
  const rows = input.positions.length;
  const skip = input.skip ?? (await allHits(rows, job));
  job.stage("Features of voxels", 0, 0.6);
  const { reflectance, warnings } = await reflectanceFor(input, read, job);
  const kinds = model.inputs.channels.map(({ name }) => name);
  const { voxel, finest_voxel, most_single } = model.hierarchy;
  const params = { finest_m: finest_voxel ?? voxel, coarsest_m: voxel, most_single, kinds, enlarge_to_m: TREE_SPAN_M };
  const cloud = await job.track(() => native.voxelCloud(input.positions, skip, reflectance, params));
  job.adopt(cloud.cloud);
  if (cloud.enlarged_by > 1) {
    const times = cloud.enlarged_by.toPrecision(2);
    warnings.push(`The cloud is smaller than a tree: the network, which knows trees, saw it enlarged ${times} times.`);
  }
  if (cloud.voxel_m > model.hierarchy.voxel) {
    const [used, wanted] = [cloud.voxel_m.toPrecision(3), model.hierarchy.voxel];
    warnings.push(`The cloud is too large for voxels of ${wanted} m: the network saw voxels of ${used} m.`);
  }
  const crops = job.adopt(await job.track(() => native.voxelCrops(cloud.cloud, cropParams(read))));
  job.stage("Network", 0.6, 0.98);
  const count = threads > 0 ? threads : Math.min(availableParallelism(), MAX_NETWORK_THREADS);
  await withNetwork(job.signal, async (network) => {
    await network.load(read.onnx, plan.provider, count);
    await voteOnCrops({ crops, read, network, voxels: cloud.voxel_count }, job);
  });
  job.stage("Labels", 0.98, 1);
  const values = model.classes.map(({ value }) => value);
  const labelled = async (unknown: number) => {
    const column = await job.track(() => native.cropLabels(crops, { values, unknown, skipped: NO_HIT }));
    return job.adopt(new ColumnRef(column));
  };
  const marked = await labelled(NOT_FINITE);
  const found = await job.track(() => classCounts(marked.native, null));
  job.releaseEarly(marked);
  const non_finite = found.counts[found.values.indexOf(NOT_FINITE)] ?? 0;
  const { voxel_count, voxel_m } = cloud;
  return { labels: await labelled(LEAF), non_finite, voxel_count, voxel_m, warnings };
}

/** The package of a model as it is now. Errors: conflict if it is no longer what the run was planned with. */
async function readAgain({ folder, model }: InstalledModel): Promise<ReadPackage> {
  const read = await readPackage(folder).catch((error: Error) => {
    throw new AppError("conflict", `model ${model.id} was changed after the request (${error.message}); send it again`);
  });
  if (JSON.stringify(read.model) === JSON.stringify(model)) return read;
  throw new AppError("conflict", `model ${model.id} was replaced by another one after the request; send it again`);
}

const cropParams = ({ model: { hierarchy, crop, hparams }, inputs }: ReadPackage): native.CropParams => ({
  levels: levelsOf(inputs),
  neighbors: hierarchy.k,
  max_voxels: crop.max_points,
  inner_fraction: crop.inner_fraction,
  class_count: hparams.num_classes,
  hops: crop.hops,
});

interface Voting {
  readonly crops: native.NativeCrops;
  readonly read: ReadPackage;
  readonly network: NetworkProcess;
  readonly voxels: number;
}

async function voteOnCrops({ crops, read, network, voxels }: Voting, job: Job): Promise<void> {
  for (;;) {
    const crop = await job.scoped((part) => part.track(() => native.nextCrop(crops)));
    if (!crop) return;
    const inputs = cropTensors(crop, read).filter(({ name }) => read.inputs.includes(name));
    const logits = logitsOf(await network.run(inputs), crop.voxel_count, read.model);
    await job.scoped((part) => part.track(() => native.voteCrop(crops, logits)));
    job.advance(crop.claimed / voxels);
  }
}

/** The tensors of a crop, whether the network asks for them or not. */
function cropTensors(crop: native.NativeCrop, { model: { hparams, hierarchy } }: ReadPackage): Tensor[] {
  const dims = [crop.voxel_count, hparams.in_channels];
  const tensors: Tensor[] = [{ name: "features", type: "float32", dims, data: crop.features }];
  for (const [level, { positions, neighbors, parent }] of crop.levels.entries()) {
    const size = positions.byteLength / 12;
    tensors.push({ name: `positions_${level}`, type: "float32", dims: [size, 3], data: positions });
    tensors.push({ name: `neighbors_${level}`, type: "int64", dims: [size, hierarchy.k], data: neighbors });
    if (parent) tensors.push({ name: `parent_${level}`, type: "int64", dims: [size], data: parent });
  }
  return tensors;
}

async function allHits(rows: number, job: Job): Promise<NativeColumn> {
  const { skip } = await job.track(() => hitMask(null, null, rows));
  return skip ? job.adopt(new ColumnRef(skip)).native : constant(rows, "u8", job);
}

/** Reflectance as the model needs it: the points' own, or the same everywhere with a warning. */
async function reflectanceFor({ positions, reflectance }: MlInput, { model }: ReadPackage, job: Job) {
  const warnings: string[] = [];
  if (!model.inputs.channels.some(({ name }) => name === "reflectance")) return { reflectance: null, warnings };
  if (reflectance) {
    const params = { shift: [0, 0, 0], divisor: 1, clamp: false } as const;
    return {
      reflectance: job.adopt(new ColumnRef(await job.track(() => toF32(reflectance, params)))).native,
      warnings,
    };
  }
  warnings.push(
    `Model ${model.id} uses the reflectance, which not every source has: it took the points as equally bright.`,
  );
  return { reflectance: await constant(positions.length, "f32", job), warnings };
}

async function constant(rows: number, dtype: "u8" | "f32", job: Job): Promise<NativeColumn> {
  const part = { column: null, rows, drop: null, offset: [0, 0, 0], fill: 0 } as const;
  return job.adopt(new ColumnRef(await job.track(() => concatColumns([part], { dtype, fill: 0 })))).native;
}
