import {
  CHM_FIELDS,
  CUT_PURSUIT_FIELDS,
  DEFAULT_CHM,
  DEFAULT_CUT_PURSUIT,
  DEFAULT_METHOD_ALIAS,
  TREE_METHODS,
  type TreeFilter,
  type TreeMethod,
} from "../../../shared/contract/segment-trees.ts";
import { AppError } from "../../../shared/errors.ts";
import type { CutPursuitParams } from "../../native/trees.ts";

/** A canopy height model; `cell` null = derived. */
export interface CheckedChm {
  readonly method: "chm";
  readonly cell: number | null;
  readonly min_height: number;
  readonly crown_scale: number;
}

/** A cut-pursuit segmentation; voxels as asked for. */
export interface CheckedCutPursuit {
  readonly method: "default";
  readonly params: CutPursuitParams;
}

/** Cheapest paths from stems. */
export interface CheckedPaths {
  readonly method: "auto";
}

/** A method with valid parameters. */
export type CheckedTrees = (CheckedChm | CheckedCutPursuit | CheckedPaths) & {
  /** Sentences about parameters of the other method. */
  readonly unused: readonly string[];
};

type Field = (typeof CHM_FIELDS)[number] | (typeof CUT_PURSUIT_FIELDS)[number];

const MAX_NEIGHBORS = 1000;
const COUNTS: readonly Field[] = ["min_nn1", "min_nn2", "min_nn3"];
const FROM_ZERO: readonly Field[] = [
  "chm_min_height",
  "reg_strength1",
  "reg_strength2",
  "rel_height_length_ratio",
  "vertical_weight",
  "score_candidate_thresh",
  "init_stem_rel_length_thresh",
];

const refused = (message: string) => new AppError("invalid_argument", message);

/** Errors: invalid_argument, naming the value and its rule. */
export function checkTrees(filter: TreeFilter): CheckedTrees {
  const method = methodOf(filter.method);
  if (method === "auto") {
    const field = [...CUT_PURSUIT_FIELDS, ...CHM_FIELDS].find((name) => (filter[name] ?? null) !== null);
    if (field) throw refused(`${field} is no parameter of method "auto", which has none; leave it out`);
    return { method, unused: [] };
  }
  const fields: readonly Field[] = method === "chm" ? CHM_FIELDS : CUT_PURSUIT_FIELDS;
  for (const name of fields) checkField(name, filter[name] ?? null);
  const unused = unusedFields(filter, method);
  if (method === "chm") {
    const min_height = filter.chm_min_height ?? DEFAULT_CHM.chm_min_height;
    const crown_scale = filter.chm_crown_scale ?? DEFAULT_CHM.chm_crown_scale;
    return { method, cell: filter.chm_cell ?? null, min_height, crown_scale, unused };
  }
  const params = Object.fromEntries(
    CUT_PURSUIT_FIELDS.map((name) => [name, filter[name] ?? DEFAULT_CUT_PURSUIT[name]]),
  );
  return { method, params: params as unknown as CutPursuitParams, unused };
}

function methodOf(wanted: string): TreeMethod {
  const method = wanted === DEFAULT_METHOD_ALIAS ? "default" : TREE_METHODS.find((name) => name === wanted);
  if (!method) throw refused(`method "${wanted.slice(0, 60)}" is none of ${TREE_METHODS.join(", ")}`);
  return method;
}

function checkField(name: Field, value: number | null): void {
  if (value === null) return;
  if (COUNTS.includes(name)) {
    if (!(Number.isInteger(value) && value >= 1 && value <= MAX_NEIGHBORS))
      throw refused(`${name} must be 1 to ${MAX_NEIGHBORS}, not ${value}`);
  } else if (FROM_ZERO.includes(name)) {
    if (!(value >= 0)) throw refused(`${name} must be a number from 0, not ${value}`);
  } else if (!(value > 0)) throw refused(`${name} must be a number above 0, not ${value}`);
  if (name === "score_candidate_thresh" && value > 1) throw refused(`${name} must be 0 to 1, not ${value}`);
}

/** Clients that send all fields with their defaults ask for nothing. */
function unusedFields(filter: TreeFilter, method: TreeMethod): string[] {
  const defaults: Readonly<Partial<Record<Field, number>>> = { ...DEFAULT_CHM, ...DEFAULT_CUT_PURSUIT };
  const others: readonly Field[] = method === "chm" ? CUT_PURSUIT_FIELDS : CHM_FIELDS;
  const sent = others.filter((name) => {
    const value = filter[name] ?? null;
    return value !== null && value !== defaults[name];
  });
  return sent.length > 0 ? [`Method ${method} does not use ${sent.join(", ")}.`] : [];
}
