import { z } from "zod";
import {
  DEFAULT_CROP_INNER_FRACTION,
  DEFAULT_CROP_VOXELS,
  DEFAULT_MOST_SINGLE,
  MAX_CROP_HOPS,
  MAX_CROP_VOXELS,
  MAX_MODEL_CLASSES,
  MAX_MODEL_TEXT_CHARS,
  MAX_VOXEL_LEVELS,
  MAX_VOXEL_NEIGHBORS,
  MIN_CROP_VOXELS,
  MIN_MODEL_VOXEL_M,
} from "../limits.ts";

/** Task of models that tell wood from leaves. */
export const WOOD_LEAF_TASK = "wood_leaf";
/** Labels of such a model: wood and leaf. */
const WOOD_CLASS_VALUES: readonly number[] = [1, 2];
export const MODEL_FORMAT = "ml-model-package";
export const MODEL_SCHEMA_VERSION = 1;
/** Input channels by name: their columns (cpp/ops/wood/voxel_features.h). */
export const CHANNEL_WIDTHS = { dxyz: 3, reflectance: 1, local_geometry: 36, path: 28, lines: 22 } as const;
export type ChannelName = keyof typeof CHANNEL_WIDTHS;
export const MODEL_ID = /^[a-z0-9][a-z0-9_-]{0,63}$/;

const text = z.string().trim().min(1).max(MAX_MODEL_TEXT_CHARS);
const channelName = z.enum(Object.keys(CHANNEL_WIDTHS) as [ChannelName, ...ChannelName[]]);

export const ModelChannel = z.object({
  name: channelName.describe(
    "dxyz: place in the crop, m; reflectance: normalized by its 2 to 98 % range; local_geometry: shape of the surroundings; path: place along the plant; lines: straightest run of neighbours and what hangs on it",
  ),
  width: z.int().min(1).describe("columns"),
});

export const ModelClass = z
  .object({
    value: z.int().min(1).max(255).describe("label"),
    name: text.describe("for people"),
    color: z
      .string()
      .regex(/^#[0-9a-fA-F]{6}$/)
      .describe("#rrggbb"),
  })
  .meta({ id: "MlModelClass" });

/** model.json of a package; the sums and counts in it agree with each other. */
export const ModelPackage = z
  .object({
    format: z.literal(MODEL_FORMAT),
    schema_version: z
      .int()
      .min(1)
      .max(MODEL_SCHEMA_VERSION, `is newer than this program reads (${MODEL_SCHEMA_VERSION})`),
    id: z.string().regex(MODEL_ID, "must match [a-z0-9][a-z0-9_-]{0,63}"),
    name: text,
    description: z
      .string()
      .max(10 * MAX_MODEL_TEXT_CHARS)
      .default(""),
    task: text,
    arch: text,
    variant: z.string().max(MAX_MODEL_TEXT_CHARS).default(""),
    output_slug: z.string().regex(/^[A-Za-z0-9_]{1,64}$/, "must be 1 to 64 of A-Z a-z 0-9 _"),
    inputs: z.object({
      channels: z
        .array(
          z.union([channelName.transform((name) => ({ name, width: CHANNEL_WIDTHS[name] as number })), ModelChannel]),
        )
        .min(1)
        .max(Object.keys(CHANNEL_WIDTHS).length),
    }),
    hparams: z.looseObject({
      num_classes: z.int().min(2).max(MAX_MODEL_CLASSES),
      in_channels: z.int().min(1),
    }),
    hierarchy: z.object({
      /** Metres. The coarsest voxels, or all. */
      voxel: z.number().min(MIN_MODEL_VOXEL_M).max(1000),
      /** Metres. With it, voxels are as fine as this, or as leaves a share of most_single with one point alone. */
      finest_voxel: z.number().min(MIN_MODEL_VOXEL_M).optional(),
      most_single: z.number().min(0.01).max(1).default(DEFAULT_MOST_SINGLE),
      levels: z.int().min(2).max(MAX_VOXEL_LEVELS),
      k: z.int().min(2).max(MAX_VOXEL_NEIGHBORS),
    }),
    crop: z
      .object({
        max_points: z.int().min(MIN_CROP_VOXELS).max(MAX_CROP_VOXELS).default(DEFAULT_CROP_VOXELS),
        inner_fraction: z.number().min(0.1).max(1).default(DEFAULT_CROP_INNER_FRACTION),
        hops: z.int().min(0).max(MAX_CROP_HOPS).default(0),
      })
      .prefault({}),
    classes: z.array(ModelClass).min(2).max(MAX_MODEL_CLASSES),
    training: z.unknown().optional(),
    metrics: z.unknown().optional(),
  })
  .superRefine((model, ctx) => {
    const wrong = (path: (string | number)[], message: string) => ctx.addIssue({ code: "custom", path, message });
    const { channels } = model.inputs;
    if (channels[0]?.name !== "dxyz") wrong(["inputs", "channels"], "must start with dxyz");
    for (const [at, { name, width }] of channels.entries()) {
      if (width !== CHANNEL_WIDTHS[name])
        wrong(["inputs", "channels", at, "width"], `is ${width}; ${name} has ${CHANNEL_WIDTHS[name]} columns`);
    }
    const { voxel, finest_voxel } = model.hierarchy;
    if (finest_voxel !== undefined && finest_voxel > voxel)
      wrong(["hierarchy", "finest_voxel"], `is ${finest_voxel}, but voxel is ${voxel}: it must not be larger`);
    if (new Set(channels.map(({ name }) => name)).size < channels.length)
      wrong(["inputs", "channels"], "names a channel twice");
    const columns = channels.reduce((sum, { width }) => sum + width, 0);
    if (model.hparams.in_channels !== columns)
      wrong(["hparams", "in_channels"], `is ${model.hparams.in_channels}, but the channels have ${columns} columns`);
    if (model.hparams.num_classes !== model.classes.length)
      wrong(["hparams", "num_classes"], `is ${model.hparams.num_classes}, but classes has ${model.classes.length}`);
    const values = new Set(model.classes.map(({ value }) => value));
    if (values.size < model.classes.length) wrong(["classes"], "has a value twice");
    if (model.task === WOOD_LEAF_TASK) {
      if (values.size !== WOOD_CLASS_VALUES.length || !WOOD_CLASS_VALUES.every((value) => values.has(value)))
        wrong(["classes"], "of a wood_leaf model must have the values 1 (wood) and 2 (leaf)");
    }
  });
export type ModelPackage = z.infer<typeof ModelPackage>;

export const MlModel = z
  .object({
    id: z.string().describe("for model_id"),
    name: z.string().describe("for people"),
    description: z.string().describe("for people"),
    task: z.string().describe("what it labels; wood_leaf: wood and leaves"),
    arch: z.string().describe("architecture"),
    variant: z.string().describe("variant of the architecture; may be empty"),
    channels: z.array(z.string()).describe("input channels, in the order of the columns"),
    classes: z.array(ModelClass).describe("labels"),
    output_slug: z.string().describe("column that the labels are written to"),
    metrics: z.unknown().describe("accuracy as the package reports it; null if it does not"),
    origin: z.enum(["bundled", "user"]).describe("bundled: part of the product; user: imported"),
    is_default: z.boolean().describe("used for its task when a request names no model"),
  })
  .meta({ id: "MlModel", description: "an installed model" });
export type MlModel = z.infer<typeof MlModel>;

export const MlModelsQuery = z.object({
  task: z.string().optional().describe("only models of this task, for example wood_leaf"),
});

export const BrokenModel = z
  .object({
    path: z.string().describe("folder of the package"),
    reason: z.string().describe("the first problem found"),
  })
  .meta({ id: "BrokenMlModel" });

export const MlModelsResponse = z
  .object({
    models: z.array(MlModel).describe("bundled models, then imported ones, each sorted by id"),
    default_models: z.record(z.string(), z.string()).describe("by task: the model that is used if none is named"),
    default_wood_model: z.string().nullable().describe("the default of the task wood_leaf; null if there is none"),
    broken: z.array(BrokenModel).describe("packages in the folders of models that cannot be used"),
  })
  .meta({ id: "MlModelsResponse" });
export type MlModelsResponse = z.infer<typeof MlModelsResponse>;

export const MlDevice = z
  .object({
    device: z.enum(["cuda", "mps", "cpu"]).describe("where networks run"),
    device_name: z.string().describe("model of the processor or GPU"),
    vram_gb: z.number().nullable().describe("memory of the GPU, GB; null on the CPU or if unknown"),
    torch: z.string().nullable().describe("version of PyTorch; always null: networks run in ONNX Runtime"),
    cuda: z.boolean().describe("a test computation ran with CUDA"),
    mps: z.boolean().describe("a test computation ran with Metal; always false: no provider for it is installed"),
    runtime: z.string().nullable().describe("version of onnxruntime-node; null if networks cannot run here"),
    reason: z.string().describe("why this device, and why networks cannot run if they cannot; a sentence"),
  })
  .meta({ id: "MlDevice", description: "where networks run, and why" });
export type MlDevice = z.infer<typeof MlDevice>;

export const ImportModelRequest = z
  .object({
    path: z.string().min(1).max(4096).describe("absolute path of a package's folder, or of the model.json in it"),
  })
  .meta({ id: "ImportMlModelRequest" });

export const DeleteModelResponse = z
  .object({ success: z.literal(true).describe("the model is no longer installed") })
  .meta({ id: "DeleteMlModelResponse" });
