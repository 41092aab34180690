import type { CreateSessionTail } from "../../../shared/contract/cloud-session/create.ts";

/** What the steps of an analysis found: made by `analyze`, shown by report, terminal and --json. */

type Triple = readonly [number, number, number];

/** A step of the analysis: done, left out by an option, or not possible, and why. */
export type StepOutcome<T> =
  | ({ readonly done: true } & T)
  | { readonly done: false; readonly reason: string; readonly asked: boolean };

export type UsedParameters = Readonly<Record<string, number | boolean>>;

export interface NoiseSummary {
  readonly flagged: number;
  readonly kept: number;
  /** More than a fifth is no scanner noise: the canopy is then made from all points. */
  readonly over_removal: boolean;
  readonly method: string;
  readonly params_used: UsedParameters;
}
export interface GroundSummary {
  readonly num_ground: number;
  readonly num_plant: number;
  readonly low_outliers: number;
  readonly method: string;
  readonly params_used: UsedParameters;
  readonly point_spacing_m: number | null;
}
export interface SurfaceSummary {
  readonly cell_m: number;
  readonly cells: readonly [x: number, y: number];
  readonly void_cells: number;
  /** Metres; of the terrain in true world coordinates. Null without a cell. */
  readonly range: readonly [number, number] | null;
  readonly ground_source: string | null;
}

/** What denoise, ground and surfaces gave: part of the --json document. */
export interface TerrainSummary {
  readonly noise: StepOutcome<NoiseSummary>;
  readonly ground: StepOutcome<GroundSummary>;
  readonly dtm: StepOutcome<SurfaceSummary>;
  readonly chm: StepOutcome<SurfaceSummary>;
  readonly warnings: readonly string[];
}

/** Metres, true world, faces included. */
export interface CropBox {
  readonly min: Triple;
  readonly max: Triple;
}

/** What of a scalar column stays: a range with open ends, or whole numbers. */
export type FilterRule =
  | { readonly slug: string; readonly min: number | null; readonly max: number | null }
  | { readonly slug: string; readonly values: readonly number[] };

/** A rule as it was given. */
export function filterText(rule: FilterRule): string {
  if ("values" in rule) return `${rule.slug}=${rule.values.join(",")}`;
  return `${rule.slug}=${rule.min ?? ""}..${rule.max ?? ""}`;
}

/** What the options did to the cloud before anything was measured. */
export interface EditSummary {
  /** Files behind the first one. */
  readonly merged: readonly { readonly path: string; readonly points: number; readonly rows: number }[];
  readonly crop_world: CropBox | null;
  readonly filters: readonly FilterRule[];
  /** Points before crop and filters, and how many of them those dropped. */
  readonly points_before: number;
  readonly points_dropped: number;
}

export interface EditedCloud {
  readonly tail: CreateSessionTail;
  /** Null when no option asked for any. */
  readonly edits: EditSummary | null;
}
