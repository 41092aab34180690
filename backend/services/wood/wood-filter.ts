import {
  DEFAULT_WOOD,
  WOOD_FIELDS,
  WOOD_METHODS,
  type WoodFilter,
  type WoodMethod,
} from "../../../shared/contract/segment-wood.ts";
import { AppError } from "../../../shared/errors.ts";
import type { Deps } from "../../deps.ts";
import { type MlPlan, planMl } from "./ml-labels.ts";

type Params = Readonly<Record<(typeof WOOD_FIELDS)[number], number>>;

/** A method with valid parameters. */
export interface CheckedWood {
  readonly method: WoodMethod;
  /** Of the methods of shape; the defaults if the method is another. */
  readonly params: Params;
  /** Null: a method of shape. */
  readonly ml: MlPlan | null;
  /** Sentences about parameters of other methods. */
  readonly unused: readonly string[];
}

/** Largest neighbourhood: cpp/ops/wood/local_geometry_features.h. */
const MOST_NEIGHBORS = 300;
const INFINITE = Number.MAX_VALUE;

/** Least and greatest value of each parameter. */
const LIMITS: Readonly<Record<keyof Params, readonly [number, number]>> = {
  wood_bias: [0, 1],
  k_min: [3, MOST_NEIGHBORS],
  k_max: [3, MOST_NEIGHBORS],
  k_step: [1, MOST_NEIGHBORS],
  reg_k: [1, MOST_NEIGHBORS],
  reg_iters: [0, 100],
  min_speckle: [0, 4_294_967_295],
  branch_grow_sph: [0, INFINITE],
  backbone_support: [0, INFINITE],
  voxel_size: [0, INFINITE],
  reflectance_weight_max: [0, 1],
};

const refused = (message: string) => new AppError("invalid_argument", message);

/** Errors: invalid_argument, naming the value and its rule, or why the model cannot be used; unsupported without its runtime. */
export async function checkWood(filter: WoodFilter, deps: Deps): Promise<CheckedWood> {
  const method = WOOD_METHODS.find((name) => name === filter.method);
  if (!method) throw refused(`method "${filter.method.slice(0, 60)}" is none of ${WOOD_METHODS.join(", ")}`);
  if (method === "ml") {
    const given = WOOD_FIELDS.filter((name) => (filter[name] ?? DEFAULT_WOOD[name]) !== DEFAULT_WOOD[name]);
    const unused = given.length > 0 ? [`Method ml does not use ${given.join(", ")}.`] : [];
    return { method, params: DEFAULT_WOOD, ml: await planMl(filter.model_id ?? null, deps), unused };
  }
  const params = Object.fromEntries(WOOD_FIELDS.map((name) => [name, filter[name] ?? DEFAULT_WOOD[name]])) as Params;
  for (const name of WOOD_FIELDS) {
    const [least, most] = LIMITS[name];
    const rule = most === INFINITE ? `a number from ${least}` : `${least} to ${most}`;
    if (!(params[name] >= least && params[name] <= most)) throw refused(`${name} must be ${rule}, not ${params[name]}`);
  }
  if (params.k_min > params.k_max) throw refused(`k_min ${params.k_min} must be at most k_max ${params.k_max}`);
  const idle = method !== "connectivity" && params.backbone_support !== DEFAULT_WOOD.backbone_support;
  const unused = [...(idle ? ["backbone_support"] : []), ...(filter.model_id ? ["model_id"] : [])];
  return { method, params, ml: null, unused: unused.map((name) => `Method ${method} does not use ${name}.`) };
}
