import type { z } from "zod";
import type { SkippedTree, StemRow, TreeRow } from "../../../shared/contract/cloud-session/tree-inventory-rows.ts";
import type { TreeQsmResult } from "../../../shared/contract/cloud-session/tree-qsm.ts";
import type { SeenTree } from "./owners.ts";
import type { SurfaceName } from "./tile-rasters.ts";

/** What a tile's job found; the same bytes for the same input. */
export interface TileResult {
  readonly tile: string;
  readonly view_points: number;
  readonly core_points: number;
  readonly trees: readonly SeenTree[];
  readonly rows: readonly TreeRow[];
  readonly stem_curve: readonly StemRow[];
  readonly skipped: readonly z.infer<typeof SkippedTree>[];
  /** Null: step qsm was not asked for. */
  readonly qsm: readonly TreeQsmResult[] | null;
  readonly ground_hull: readonly (readonly [number, number])[];
  /** Surfaces that were written as GeoTIFF. */
  readonly surfaces: readonly SurfaceName[];
  readonly warnings: readonly string[];
}

/** What differs from run to run. */
export interface TileTimes {
  readonly seconds: Readonly<Record<string, number>>;
  readonly peak_rss_mb: number;
}
