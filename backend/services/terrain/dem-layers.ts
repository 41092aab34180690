import type { DemSuccess } from "../../../shared/contract/dem.ts";
import type { Job } from "../../jobs/job.ts";
import type { NativeColumn } from "../../native/core/handles.ts";
import * as native from "../../native/terrain.ts";
import { ColumnRef } from "../../sessions/column-ref.ts";
import type { DemCloud } from "./dem-cloud.ts";
import { firstReturns } from "./first-returns.ts";
import { cellCounts, type DemSurface } from "./surface.ts";

const LAYER_LABELS = {
  elevation: "Elevation (m)",
  hillshade: "Hillshade",
  slope: "Slope (°)",
  aspect: "Aspect (°)",
  point_density: "Point density",
  return_density: "Return density",
  intensity: "Intensity",
} as const;
type LayerName = keyof typeof LAYER_LABELS;

interface Layer {
  readonly grid: ColumnRef;
  readonly at_vertices: ColumnRef;
  readonly min: number;
  readonly max: number;
}
type Layers = Partial<Record<LayerName, Layer>>;

/** A raster as a layer: its grid, and its values at the vertices of the mesh. The run owns the columns. */
export async function layerOf(grid: NativeColumn, cell: NativeColumn, job: Job): Promise<Layer> {
  const layer = await job.track(() => native.cellLayer(grid, cell));
  return {
    ...layer,
    grid: job.adopt(new ColumnRef(layer.grid)),
    at_vertices: job.adopt(new ColumnRef(layer.at_vertices)),
  };
}

/** The layers of a DTM. The run owns the columns. */
export async function terrainLayers(
  cloud: DemCloud,
  surface: DemSurface,
  cell: NativeColumn,
  job: Job,
): Promise<Layers> {
  const { frame, grid } = surface;
  const shape = await job.track(() => native.terrainLayers(frame, grid));
  for (const column of Object.values(shape)) job.adopt(new ColumnRef(column));
  const counts = surface.counts ?? (await cellCounts(cloud, cloud.skip, frame, job));
  const first = await cellCounts(cloud, (await firstReturns(cloud, job)).skip, frame, job);
  const grids: Partial<Record<LayerName, NativeColumn>> = {
    elevation: grid,
    ...shape,
    point_density: counts.counts,
    return_density: first.counts,
  };
  const { intensity, positions, skip } = cloud;
  if (intensity) {
    const means = await job.track(() => native.cellMeans(positions, skip, intensity.values, intensity.units, frame));
    grids.intensity = job.adopt(new ColumnRef(means)).native;
  }
  const layers: Layers = {};
  for (const [name, column] of Object.entries(grids)) layers[name as LayerName] = await layerOf(column, cell, job);
  return layers;
}

/** Range and name of each layer. */
export const ranges = (layers: Layers): NonNullable<DemSuccess["layers"]> =>
  Object.fromEntries(
    Object.entries(layers).map(([name, { min, max }]) => [name, { min, max, label: LAYER_LABELS[name as LayerName] }]),
  );
