// The methods that tell wood from leaves, as the service runs them with its defaults.
import { join } from "node:path";
import { parseConfig } from "../../backend/config.ts";
import { JobRegistry } from "../../backend/jobs/registry.ts";
import { woodLeaf } from "../../backend/native/wood.ts";
import { type MlPlan, mlLabels, planMl } from "../../backend/services/wood/ml-labels.ts";
import { DEFAULT_WOOD, SHAPE_METHODS, type ShapeMethod } from "../../shared/contract/segment-wood.ts";
import { DEFAULT_WOOD_MAX_POINTS } from "../../shared/limits.ts";
import { root } from "../bench/folders.ts";
import { labelsOf, positions } from "./native.ts";
import type { WoodCloud } from "./wood-clouds.ts";

/** Labels 1 and 2 of each point by a method. */
export type Labeller = (cloud: WoodCloud) => Promise<Uint8Array>;

const byShape =
  (method: ShapeMethod): Labeller =>
  async ({ xyz }) => {
    const points = positions(xyz);
    const { voxel_size: voxel_size_m, ...rest } = DEFAULT_WOOD;
    const params = { ...rest, method, voxel_size_m, most_points: DEFAULT_WOOD_MAX_POINTS };
    const found = await woodLeaf(points, null, null, params).promise;
    const labels = labelsOf(found.wood_class);
    for (const one of [points, found.wood_class]) one.release();
    return labels;
  };

const plans = new Map<string | undefined, Promise<MlPlan>>();

/** The models of a folder, default the bundled ones, alone: no model of the user's is seen. */
function modelOf(folder: string | undefined): Promise<MlPlan> {
  const bundled = folder === undefined ? {} : { bundledModelsDir: folder };
  const mlModelsDir = join(root, "build", "no_models");
  const config = { ...parseConfig({}), mlDevice: "cpu" as const, mlModelsDir, ...bundled };
  const deviceInfo = () => Promise.reject(new Error("networks are measured on the CPU"));
  const plan = plans.get(folder) ?? planMl(null, { config, deviceInfo });
  plans.set(folder, plan);
  return plan;
}

export const byNetwork = ({ xyz, models }: Pick<WoodCloud, "xyz" | "models">): Promise<Uint8Array> =>
  new JobRegistry().run(async (job) => {
    const points = positions(xyz);
    const { labels } = await mlLabels({ positions: points, skip: null, reflectance: null }, await modelOf(models), job);
    points.release();
    return labelsOf(labels.native);
  });

export const LABELLERS: Readonly<Record<string, Labeller>> = {
  ...(Object.fromEntries(SHAPE_METHODS.map((method) => [method, byShape(method)])) as Record<ShapeMethod, Labeller>),
  ml: byNetwork,
};
