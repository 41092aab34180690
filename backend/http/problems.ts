import { DENOISE_METHODS } from "../../shared/contract/pointcloud-denoise.ts";
import { GROUND_METHODS } from "../../shared/contract/segment-ground.ts";
import { TREE_METHODS } from "../../shared/contract/segment-trees.ts";
import { WOOD_METHODS } from "../../shared/contract/segment-wood.ts";
import type { ErrorCode } from "../../shared/errors.ts";

/**
 * An error response that the documentation of a route shows as an example. test/contract/problems.test.ts sends a
 * request that causes it and compares the answer.
 */
export interface ProblemExample {
  readonly code: ErrorCode;
  /** The error sentence, or the object of a structured refusal. */
  readonly detail: string | Readonly<Record<string, unknown>>;
}

export const NO_SESSION: ProblemExample = { code: "not_found", detail: "Cloud session not found: 00000000" };
export const NO_FILE: ProblemExample = { code: "not_found", detail: "File not found: /data/missing.las" };
/** Another edit changed the cloud during the run. */
export const CLOUD_CHANGED: ProblemExample = {
  code: "conflict",
  detail: "the cloud changed while this operation ran; run it again",
};
/** Another backend has opened a session that this one could only read. */
export const SESSION_TAKEN: ProblemExample = {
  code: "conflict",
  detail: "another backend has opened this cloud meanwhile",
};
export const NO_SELECTION: ProblemExample = {
  code: "invalid_argument",
  detail: "the selection is empty: give a region, scalar_filters or both",
};
/** An export would replace a file that the service does not recognize as one it writes. */
export const FILE_EXISTS: ProblemExample = {
  code: "conflict",
  detail:
    'dest_path "/data/notes.laz" exists, and its content is none of the formats that are written here; send overwrite: true to replace it',
};
export const NO_SPACE: ProblemExample = { code: "no_space", detail: "ENOSPC: no space left on device, write" };
export const UNKNOWN_METHOD: ProblemExample = {
  code: "invalid_argument",
  detail: `method "magic" is none of ${DENOISE_METHODS.join(", ")}`,
};
export const UNKNOWN_GROUND_METHOD: ProblemExample = {
  code: "invalid_argument",
  detail: `method "magic" is none of ${GROUND_METHODS.join(", ")}`,
};
export const UNKNOWN_TREE_METHOD: ProblemExample = {
  code: "invalid_argument",
  detail: `method "magic" is none of ${TREE_METHODS.join(", ")}`,
};
export const UNKNOWN_WOOD_METHOD: ProblemExample = {
  code: "invalid_argument",
  detail: `method "magic" is none of ${WOOD_METHODS.join(", ")}`,
};
/** Limits of a layer of heights that are not ascending. */
export const BAND_ORDER: ProblemExample = {
  code: "invalid_argument",
  detail: "band_min_m 2 must be 0 or more and below band_max_m 1, which must be at most 1000",
};
const COST = {
  message: "Ground segmentation may take up to 3 minutes. Send the request again with acknowledge_cost to run it.",
  estimated_seconds: 170,
  estimated_bytes: 900_000_000,
  budget_bytes: 8_000_000_000,
  headroom_bytes: 8_000_000_000,
  admitted_bytes: 0,
  over_time: true,
  over_memory: false,
};
/** Models of networks: a folder without a package, an id that is not installed, one of a model of the product. */
export const NO_PACKAGE: ProblemExample = {
  code: "invalid_argument",
  detail: "/data/missing: there is no such folder",
};
export const NO_MODEL: ProblemExample = { code: "not_found", detail: 'no model "missing" is installed' };
export const BUNDLED_MODEL: ProblemExample = {
  code: "conflict",
  detail: '"wood-leaf" is a bundled model and cannot be removed',
};
/** The run is expected to take long. */
export const COSTLY: ProblemExample = { code: "conflict", detail: { cost_warning: COST, message: COST.message } };
