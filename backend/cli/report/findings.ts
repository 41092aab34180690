import type { CreateSessionTail } from "../../../shared/contract/cloud-session/create.ts";

/** Results of the steps of `analyze`, shown in the report, in the terminal and by --json. */

type Triple = readonly [number, number, number];

/** Outcome of a step: its result, or why it was left out by an option (`asked` false) or was not possible. */
export type StepOutcome<T> =
  | ({ readonly done: true } & T)
  | { readonly done: false; readonly reason: string; readonly asked: boolean };

export const SCENES = ["airborne", "plot", "tree", "object"] as const;
export type SceneKind = (typeof SCENES)[number];

/** What the cloud shows: land from the air, land from the ground, one tree, or a thing or room. */
export interface Scene {
  readonly kind: SceneKind;
  /** True if --scene decided. */
  readonly asked: boolean;
  readonly reason: string;
}

/** Terrain and canopy heights make sense for land only. */
export const isLand = ({ kind }: Pick<Scene, "kind">): boolean => kind === "airborne" || kind === "plot";

export type UsedParameters = Readonly<Record<string, number | boolean>>;

export interface NoiseSummary {
  readonly flagged: number;
  readonly kept: number;
  /** More than a fifth was labelled, too much for scanner noise. */
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
  /** Cells without a point that have a height; null for the canopy. */
  readonly interpolated_cells: number | null;
  /** Metres; of the terrain in true world coordinates. Null without a cell. */
  readonly range: readonly [number, number] | null;
  readonly ground_source: string | null;
}

/** Share of the cells with a height that hold no point. */
export const interpolatedShare = ({ cells, void_cells, interpolated_cells }: SurfaceSummary): number =>
  (interpolated_cells ?? 0) / Math.max(1, cells[0] * cells[1] - void_cells);

/** Results of noise, ground and surfaces; part of the --json document. */
export interface TerrainSummary {
  readonly noise: StepOutcome<NoiseSummary>;
  /**
   * Points that ground and surfaces leave out as noise: those labelled here, and those that the file names so. Null if
   * noise takes part, because more is labelled than a scanner makes.
   */
  readonly left_out_as_noise: number | null;
  readonly ground: StepOutcome<GroundSummary>;
  readonly dtm: StepOutcome<SurfaceSummary>;
  readonly dsm: StepOutcome<SurfaceSummary>;
  readonly chm: StepOutcome<SurfaceSummary>;
  readonly warnings: readonly string[];
}

/** Metres, true world, faces included. */
export interface CropBox {
  readonly min: Triple;
  readonly max: Triple;
}

/** Values of a scalar column to keep: a range, null = open end, or whole numbers. */
export type FilterRule =
  | { readonly slug: string; readonly min: number | null; readonly max: number | null }
  | { readonly slug: string; readonly values: readonly number[] };

/** A rule as text of the option --filter. */
export function filterText(rule: FilterRule): string {
  if ("values" in rule) return `${rule.slug}=${rule.values.join(",")}`;
  return `${rule.slug}=${rule.min ?? ""}..${rule.max ?? ""}`;
}

/** Edits of the cloud by options, before all measurements. */
export interface EditSummary {
  /** Files merged with the first one. */
  readonly merged: readonly { readonly path: string; readonly points: number; readonly rows: number }[];
  readonly crop_world: CropBox | null;
  readonly filters: readonly FilterRule[];
  /** Points before crop and filters, and number of points dropped by them. */
  readonly points_before: number;
  readonly points_dropped: number;
}

export interface EditedCloud {
  readonly tail: CreateSessionTail;
  /** Null if no option requested edits. */
  readonly edits: EditSummary | null;
}
