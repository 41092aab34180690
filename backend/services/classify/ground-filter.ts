import {
  CLOTH_FIELDS,
  DEFAULT_CLOTH_ITERATIONS,
  DEFAULT_SMRF,
  GROUND_METHODS,
  type GroundFilter,
  type GroundMethod,
  LAS_GROUND,
  SMRF_FIELDS,
} from "../../../shared/contract/segment-ground.ts";
import { AppError } from "../../../shared/errors.ts";
import type { Deps } from "../../deps.ts";
import * as native from "../../native/classify/ground.ts";

type ClothWish = Pick<GroundFilter, (typeof CLOTH_FIELDS)[number]>;

/** A filter with valid parameters. Cloth parameters that `wish` does not set are derived from the cloud. */
export type CheckedGround = (
  | { readonly method: "cloth"; readonly wish: ClothWish }
  | { readonly method: "smrf"; readonly params: native.SmrfParams }
  | { readonly method: "auto" }
  | { readonly method: "las_classification"; readonly ground_classes: readonly number[] }
) & { readonly frame: native.GroundFrame | null; readonly skip_images: boolean };

/** Largest window radius of smrf, in cells. */
const MAX_WINDOW_CELLS = 200;
const MAX_ITERATIONS = 10_000;

type Field = (typeof CLOTH_FIELDS)[number] | (typeof SMRF_FIELDS)[number] | "ground_classes";
const refused = (message: string) => new AppError("invalid_argument", message);
const given = (value: unknown) => value !== null && value !== undefined;

/** Errors: invalid_argument, naming the value and its rule. Fields of another method are refused, never ignored. */
export function checkGround(filter: GroundFilter): CheckedGround {
  const method = methodOf(filter);
  refuseOthers(filter, method);
  const common = { frame: filter.frame ?? null, skip_images: filter.skip_images ?? true };
  if (method === "auto") return { method, ...common };
  if (method === "las_classification") return { method, ...common, ground_classes: checkedClasses(filter) };
  return method === "cloth"
    ? { method, ...common, wish: checkedCloth(filter) }
    : { method, ...common, params: checkedSmrf(filter) };
}

/** Cloth parameters without a method mean the cloth; a request without either gets the filter without parameters. */
function methodOf(filter: GroundFilter): GroundMethod {
  const wanted = filter.method;
  if (wanted === null || wanted === undefined)
    return CLOTH_FIELDS.some((name) => given(filter[name])) ? "cloth" : "auto";
  const method = GROUND_METHODS.find((name) => name === wanted);
  if (!method) throw refused(`method "${wanted.slice(0, 60)}" is none of ${GROUND_METHODS.join(", ")}`);
  return method;
}

function checkedClasses({ ground_classes, frame, skip_images }: GroundFilter): readonly number[] {
  if (given(skip_images))
    throw refused(
      'skip_images is of methods that look for the ground, not of "las_classification", which keeps the labels of the file; leave it out',
    );
  if (frame) throw refused('frame is of methods that look for the ground, not of "las_classification"; leave it out');
  const classes = ground_classes ?? [LAS_GROUND];
  if (classes.length === 0) throw refused("ground_classes must name at least one class; leave it out for 2");
  const wrong = classes.find((value) => !(value >= 0 && value <= 255));
  if (wrong !== undefined) throw refused(`ground_classes must be classes 0 to 255, not ${wrong}`);
  return classes;
}

function refuseOthers(filter: GroundFilter, method: GroundMethod): void {
  const foreign: readonly (readonly [GroundMethod, readonly Field[]])[] = [
    ["cloth", CLOTH_FIELDS],
    ["smrf", SMRF_FIELDS],
    ["las_classification", ["ground_classes"]],
  ];
  for (const [owner, fields] of foreign) {
    const field = owner === method ? undefined : fields.find((name) => given(filter[name]));
    if (field) throw refused(`${field} belongs to method "${owner}", not to "${method}"; leave it out`);
  }
}

function requireAbove(filter: GroundFilter, fields: readonly Field[]): void {
  for (const name of fields) {
    const value = filter[name];
    if (given(value) && !(Number(value) > 0 && Number.isFinite(value)))
      throw refused(`${name} must be a number above 0, not ${value}`);
  }
}

function requireWithin(name: Field, value: number | null | undefined, low: number, high: number): void {
  if (given(value) && !(Number(value) >= low && Number(value) <= high))
    throw refused(`${name} must be ${low} to ${high}, not ${value}`);
}

function checkedCloth(filter: GroundFilter): ClothWish {
  requireAbove(filter, ["cloth_resolution", "class_threshold"]);
  requireWithin("rigidness", filter.rigidness, 1, 3);
  requireWithin("iterations", filter.iterations, 1, MAX_ITERATIONS);
  return filter;
}

function checkedSmrf(filter: GroundFilter): native.SmrfParams {
  requireAbove(filter, ["cell_size", "window_radius", "elevation_threshold"]);
  for (const name of ["slope", "elevation_scale", "net_spacing"] as const) {
    const value = filter[name];
    if (given(value) && !(Number(value) >= 0)) throw refused(`${name} must be a number from 0, not ${value}`);
  }
  const value = (name: (typeof SMRF_FIELDS)[number]) => filter[name] ?? DEFAULT_SMRF[name];
  const params = {
    cell_size: value("cell_size"),
    slope: value("slope"),
    window_radius: value("window_radius"),
    elevation_threshold: value("elevation_threshold"),
    elevation_scale: value("elevation_scale"),
    net_spacing: value("net_spacing"),
  };
  const cells = params.window_radius / params.cell_size;
  if (!(cells >= 1 && cells <= MAX_WINDOW_CELLS)) {
    throw refused(
      `window_radius ${params.window_radius} is ${cells.toPrecision(3)} cells of ${params.cell_size} m; it must be 1 to ${MAX_WINDOW_CELLS} cells`,
    );
  }
  return params;
}

/** Measurements of a cloud before a run. */
export interface GroundMeasured extends native.GroundExtent {
  /** Null if no parameter has to be derived. */
  readonly measures: native.GroundMeasures | null;
}

/** Whether a parameter must be derived from spacing and relief. */
export const leavesOpen = (filter: CheckedGround): boolean =>
  filter.method === "cloth" && DERIVED_FIELDS.some((name) => !given(filter.wish[name]));

/** Ground steeper than 10 degrees needs a soft cloth and slope fitting: docs/adr/0014. Metres per metre. */
const STEEP_GROUND = Math.tan(Math.PI / 18);
const DERIVED_FIELDS = ["cloth_resolution", "rigidness", "class_threshold", "slope_smooth"] as const;

const clip = (value: number, low: number, high: number) => Math.min(high, Math.max(low, value));
const toMillimetres = (metres: number) => Math.round(metres * 1000) / 1000;

/** Parameters derived from spacing and relief: docs/adr/0014. */
export function derivedCloth({ point_spacing_m, steepness }: native.GroundMeasures) {
  const steep = steepness > STEEP_GROUND;
  return {
    cloth_resolution: toMillimetres(clip(2 * point_spacing_m, 0.1, Math.max(0.5, point_spacing_m / 2))),
    rigidness: steep ? 1 : 3,
    class_threshold: toMillimetres(clip(point_spacing_m / 2, 0.08, 0.5)),
    slope_smooth: steep,
  };
}

export interface ClothPlan {
  readonly params: native.ClothParams;
  /** Names of the derived parameters. */
  readonly derived: readonly string[];
  /** The resolution derived from the point spacing, if the extent allows only a coarser one; else null. */
  readonly too_fine: number | null;
  readonly cost: native.ClothCost;
}

/** Errors: invalid_argument with the finest resolution that fits, if the requested cloth has too many nodes. */
export function checkCloth({ cloth_resolution }: ClothWish, { finite_count, extent }: native.GroundExtent): void {
  if (cloth_resolution === null || cloth_resolution === undefined) return;
  const cost = native.clothSimulationCost(finite_count, extent, cloth_resolution);
  if (!cost.admissible) throw tooFine(cloth_resolution, Math.max(...extent), cost);
}

/** The parameters and the cost of a cloth that checkCloth() has accepted. */
export function clothPlan(
  wish: ClothWish,
  { finite_count, extent, measures }: GroundMeasured,
  config: Pick<Deps["config"], "groundTileMinPoints" | "groundTileTargetPoints">,
): ClothPlan {
  const open = measures ? derivedCloth(measures) : null;
  const derived = DERIVED_FIELDS.filter((name) => !given(wish[name]));
  const costOf = (resolution: number) => native.clothSimulationCost(finite_count, extent, resolution);
  const finest = costOf(1).finest_resolution_m;
  const cloth_resolution = wish.cloth_resolution ?? Math.max(known(open).cloth_resolution, finest);
  const asked = wish.cloth_resolution ?? known(open).cloth_resolution;
  const cost = costOf(cloth_resolution);
  return {
    params: {
      cloth_resolution,
      rigidness: wish.rigidness ?? known(open).rigidness,
      class_threshold: wish.class_threshold ?? known(open).class_threshold,
      iterations: wish.iterations ?? DEFAULT_CLOTH_ITERATIONS,
      slope_smooth: wish.slope_smooth ?? known(open).slope_smooth,
      auto_class_threshold: wish.auto_class_threshold ?? false,
      ignore_low_outliers: wish.ignore_low_outliers ?? true,
      want_heights: false,
      tile_min_points: config.groundTileMinPoints,
      tile_target_points: config.groundTileTargetPoints,
    },
    derived,
    too_fine: asked < cloth_resolution ? asked : null,
    cost,
  };
}

function known<T>(open: T | null): T {
  if (open === null) throw new AppError("internal", "cloth parameters must be derived, but the cloud was not measured");
  return open;
}

/** Key in the details of the only run failure that a flat request answers with 400. */
export const FINEST_RESOLUTION = "finest_cloth_resolution";

function tooFine(resolution: number, extent: number, { nodes, finest_resolution_m }: native.ClothCost): AppError {
  const millions = nodes > 1e15 ? "far too many" : `${(nodes / 1e6).toFixed(1)} M`;
  return new AppError(
    "invalid_argument",
    `cloth_resolution ${resolution} needs ${millions} cloth nodes for an extent of ${extent.toFixed(1)} m (limit 25 M); ${finest_resolution_m} is the finest that fits`,
    { [FINEST_RESOLUTION]: finest_resolution_m },
  );
}
