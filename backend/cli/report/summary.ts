import type { PreviewResponse } from "../../../shared/contract/pointcloud.ts";
import { type PointSample, samplePercentiles } from "../drawing/point-sample.ts";
import { plainNumber, shortNumber } from "../drawing/round-steps.ts";
import { type EditedCloud, type EditSummary, filterText, isLand, type Scene } from "./findings.ts";
import type { ScanSummary } from "./scan-table.ts";
import { systemName, systemText, unitsText } from "./system-text.ts";

type Triple = [number, number, number];
interface BoxWorld {
  readonly min: Triple;
  readonly max: Triple;
}

export interface AttributeSummary {
  readonly name: string;
  readonly label: string | null;
  readonly type: string;
  readonly num_elements: number;
  /** Per element. */
  readonly min: readonly number[] | null;
  readonly max: readonly number[] | null;
  /** p1..p99. */
  readonly robust_range: readonly [number, number] | null;
}

/** Points per square metre over the 1 m cells with points, seen from above. */
export interface Density {
  readonly points_per_m2: number;
  readonly occupied_cells: number;
  /** False if the sample contains every point of the cloud. */
  readonly is_estimate: boolean;
}

/** Results of `analyze`: the --json document without paths, and the numbers of the report. Metres, true world. */
export interface AnalysisSummary {
  readonly file: { readonly path: string; readonly name: string; readonly bytes: number };
  readonly counts: {
    /** Surviving hits: the points of the octree. */
    readonly points: number;
    /** Rows read, misses included. */
    readonly rows: number;
    readonly misses: number;
    readonly autodetected_misses: number;
    readonly unplaceable_misses: number;
  };
  readonly scene: Scene;
  /** Merges and deletions before all measurements; null if there were none. */
  readonly edits: EditSummary | null;
  readonly bounds_world: BoxWorld | null;
  readonly extent_m: Triple | null;
  readonly robust_bounds_world: BoxWorld | null;
  readonly world_shift: Triple;
  /** Of the results; null without one, and after a conversion of the unit, which leaves the system of the file. */
  readonly crs_epsg: number | null;
  readonly crs_name: string | null;
  /** EPSG code that the file states. */
  readonly file_crs_epsg: number | null;
  /** Rows declared in the header of the file; null if not declared. */
  readonly declared_rows: number | null;
  readonly source_units: string | null;
  /** False: nobody states the unit, and it was taken as metres. */
  readonly units_stated: boolean;
  readonly source_unit_scale: number | null;
  readonly gps_time_encoding: string | null;
  readonly scan_origin_world: Triple | null;
  readonly point_spacing_m: number | null;
  /** Height and density of land only. */
  readonly ground_z_world: number | null;
  readonly density: Density | null;
  readonly attributes: readonly AttributeSummary[];
  /** Scanner positions of an E57 or PTX file. */
  readonly scans: readonly ScanSummary[];
  readonly sample: { readonly points: number; readonly of: number };
  readonly warnings: readonly string[];
}

const axes = [0, 1, 2] as const;
const triple = (value: (axis: 0 | 1 | 2) => number): Triple => [value(0), value(1), value(2)];

/** The 0.5 percentile of the heights, stored frame. */
const sampleGround = ({ point_count, position }: PointSample): number | null =>
  samplePercentiles(point_count, (i) => position[3 * i + 2] ?? Number.NaN, [0.005])?.[0] ?? null;

/** Combines the import's answer and the sample in one summary; converts stored to true world coordinates. */
export function summarize(
  file: AnalysisSummary["file"],
  { tail, edits }: EditedCloud,
  sample: PointSample,
  look: Pick<PreviewResponse, "point_count" | "crs"> & { readonly units_stated?: boolean },
  scene: Scene,
): AnalysisSummary {
  const shift = tail.world_shift ?? ([0, 0, 0] satisfies Triple);
  const world = (box: BoxWorld | null | undefined): BoxWorld | null =>
    box ? { min: triple((k) => box.min[k] + shift[k]), max: triple((k) => box.max[k] + shift[k]) } : null;
  const bounds = tail.tight_bounds;
  const ranges = tail.robust_attribute_ranges ?? {};
  const ground_z = !isLand(scene) ? null : edits ? sampleGround(sample) : tail.ground_z;
  const merged = edits !== null && edits.merged.length > 0;
  return {
    file,
    scene,
    edits,
    counts: {
      points: tail.point_count,
      rows: tail.total_count,
      misses: tail.miss_count ?? 0,
      autodetected_misses: tail.autodetected_misses ?? 0,
      unplaceable_misses: tail.unplaceable_miss_count ?? 0,
    },
    bounds_world: world(bounds),
    extent_m: bounds && triple((k) => bounds.max[k] - bounds.min[k]),
    robust_bounds_world: world(tail.robust_bounds),
    world_shift: shift,
    crs_epsg: tail.crs_epsg ?? null,
    crs_name: merged && tail.crs_epsg === null ? null : systemName(look.crs?.name),
    file_crs_epsg: merged ? (tail.crs_epsg ?? null) : (look.crs?.epsg ?? null),
    declared_rows: merged ? null : (look.point_count ?? null), // known for the first file only
    source_units: tail.source_units,
    units_stated: look.units_stated ?? false,
    source_unit_scale: tail.source_unit_scale,
    gps_time_encoding: tail.gps_time_encoding ?? null,
    scan_origin_world: tail.scan_origin ?? null,
    point_spacing_m: tail.point_spacing ?? null,
    ground_z_world: ground_z === null ? null : ground_z + shift[2],
    density: isLand(scene) ? groundDensity(sample) : null,
    attributes: tail.attributes.map(({ name, label, type, num_elements, min, max }) => ({
      name,
      label: label ?? null,
      type,
      num_elements,
      // Positions are shown in true world coordinates, like the bounds.
      min: name === "position" && min ? axes.map((k) => (min[k] ?? 0) + shift[k]) : (min ?? null),
      max: name === "position" && max ? axes.map((k) => (max[k] ?? 0) + shift[k]) : (max ?? null),
      robust_range: ranges[name] ?? null,
    })),
    scans: tail.scans ?? [],
    sample: { points: sample.point_count, of: sample.total_count },
    warnings: tail.warnings ?? [],
  };
}

/** A cell's index fits in one float64; wider clouds have no density. */
const MAX_CELLS_PER_AXIS = 2 ** 26;

/**
 * Points of the whole cloud over the number of 1 m x 1 m cells with points of the sample. A sample may miss cells, so
 * the value is an upper estimate. Null without points or beyond 67,000 km.
 */
export function groundDensity(sample: PointSample): Density | null {
  const { point_count: n, position } = sample;
  const cells = new Float64Array(n);
  for (let i = 0; i < n; i += 1) {
    const x = Math.floor((position[3 * i] ?? 0) - (position[0] ?? 0));
    const y = Math.floor((position[3 * i + 1] ?? 0) - (position[1] ?? 0));
    if (!(Math.abs(x) < MAX_CELLS_PER_AXIS / 2 && Math.abs(y) < MAX_CELLS_PER_AXIS / 2)) return null;
    cells[i] = x * MAX_CELLS_PER_AXIS + y;
  }
  cells.sort();
  let occupied = 0;
  for (let i = 0; i < n; i += 1) if (i === 0 || cells[i] !== cells[i - 1]) occupied += 1;
  if (occupied === 0) return null;
  return {
    points_per_m2: sample.total_count / occupied,
    occupied_cells: occupied,
    is_estimate: n < sample.total_count,
  };
}

export type Fact = readonly [label: string, value: string];

const list = (values: readonly number[], decimals: number) => values.map((v) => plainNumber(v, decimals)).join(", ");

/** The most important numbers, for the terminal and the report. */
export function keyFacts(summary: AnalysisSummary): Fact[] {
  const { counts, bounds_world: bounds, extent_m: extent, density } = summary;
  const facts: Fact[] = [["Points", plainNumber(counts.points, 0)]];
  if (counts.misses > 0) {
    const found = counts.autodetected_misses > 0 ? ` (${plainNumber(counts.autodetected_misses, 0)} detected)` : "";
    facts.push(["Sky/miss rows", plainNumber(counts.misses, 0) + found]);
  }
  if (counts.unplaceable_misses > 0) facts.push(["Misses without place", plainNumber(counts.unplaceable_misses, 0)]);
  const { declared_rows: declared, scans } = summary;
  const short = declared !== null && declared !== counts.rows ? ` of ${plainNumber(declared, 0)} declared` : "";
  facts.push(["Rows read", plainNumber(counts.rows, 0) + short]);
  if (scans.length > 0) facts.push(["Scans", plainNumber(scans.length, 0)]);
  facts.push(...editFacts(summary.edits));
  if (bounds && extent) {
    facts.push(
      ["Extent x, y, z", `${extent.map((metres) => plainNumber(metres, 3)).join(" × ")} m`],
      ["Minimum x, y, z", `${list(bounds.min, 3)} m`],
      ["Maximum x, y, z", `${list(bounds.max, 3)} m`],
    );
  }
  if (summary.ground_z_world !== null)
    facts.push(["Ground height (0.5 % of z)", `${plainNumber(summary.ground_z_world, 3)} m`]);
  if (summary.point_spacing_m !== null)
    facts.push(["Point spacing (median)", `${shortNumber(summary.point_spacing_m)} m`]);
  if (density) facts.push([`Density seen from above${density.is_estimate ? " (estimate)" : ""}`, densityText(density)]);
  facts.push(["Coordinate system", systemText(summary)]);
  facts.push(["Units of the file", unitsText(summary)]);
  if (summary.world_shift.some((metres) => metres !== 0))
    facts.push(["World shift", `${list(summary.world_shift, 3)} m`]);
  if (summary.scan_origin_world) facts.push(["Scanner position", `${list(summary.scan_origin_world, 3)} m`]);
  if (summary.gps_time_encoding) facts.push(["GPS time", summary.gps_time_encoding.replaceAll("_", " ")]);
  return facts;
}

function editFacts(edits: EditSummary | null): Fact[] {
  if (!edits) return [];
  const { merged, crop_world: crop, filters, points_before, points_dropped } = edits;
  const name = (path: string) => path.split(/[\\/]/).at(-1) ?? path;
  const facts = merged.map(({ path, points }): Fact => ["Merged", `${name(path)} (${plainNumber(points, 0)} points)`]);
  if (crop) facts.push(["Cropped to", `${list(crop.min, 3)} to ${list(crop.max, 3)} m`]);
  if (filters.length > 0) facts.push(["Filtered by", filters.map(filterText).join(" and ")]);
  if (crop || filters.length > 0)
    facts.push(["Points dropped", `${plainNumber(points_dropped, 0)} of ${plainNumber(points_before, 0)}`]);
  return facts;
}

function densityText({ points_per_m2, occupied_cells }: Density): string {
  const cells = `${plainNumber(occupied_cells, 0)} occupied 1 m cell${occupied_cells === 1 ? "" : "s"}`;
  return `${plainNumber(points_per_m2, points_per_m2 < 100 ? 1 : 0)} points/m² (${cells})`;
}

/** "min .. max" of an attribute, element by element. */
export function rangeText(low: readonly number[] | null, high: readonly number[] | null): string {
  if (!low || !high || low.length === 0) return "–";
  return low.map((value, k) => `${shortNumber(value)} … ${shortNumber(high[k] ?? Number.NaN)}`).join("; ");
}
