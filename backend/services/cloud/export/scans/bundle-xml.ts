import type { ScanExportEntry } from "../../../../../shared/contract/scan-export.ts";
import { AppError } from "../../../../../shared/errors.ts";

/** A voxel grid with its lists in memory. */
export interface BundleGrid {
  readonly center: readonly number[];
  readonly size: readonly number[];
  readonly counts: readonly [number, number, number];
  /** Degrees. */
  readonly rotation: number;
  /** (ny, nx) metres; null = level. */
  readonly column_offsets: readonly number[] | null;
  /** (ny, nx) 0 = dropped; null = all are kept. */
  readonly kept_columns: readonly number[] | null;
}

/** A scan as the bundle describes it. */
export interface BundleScan {
  readonly entry: ScanExportEntry;
  readonly file: string;
  /** Of the path of a spinning scanner. */
  readonly trajectory: string;
  /** Column names of the data file, in order. */
  readonly columns: readonly string[];
  readonly size: RasterSize;
}

export interface RasterSize {
  readonly n_theta: number;
  readonly n_phi: number;
}

const LEAST = 10;
const LEAST_ASPECT = 0.01;

/** The size of the raster; counts that the request leaves out follow from the number of points and the sweep. */
export function rasterSize(entry: ScanExportEntry, points: number): RasterSize {
  const beams = entry.scan_pattern === "spinning_multibeam" ? (entry.beam_elevation_angles_deg?.length ?? null) : null;
  const span = (low: number, high: number) => Math.abs(high - low);
  const aspect = span(entry.theta_min, entry.theta_max) / span(entry.phi_min, entry.phi_max);
  const usable = Number.isFinite(aspect) ? Math.max(aspect, LEAST_ASPECT) : LEAST_ASPECT;
  const rows = beams ?? entry.n_theta;
  const columns = rows ? Math.ceil(points / rows) : Math.sqrt(points / usable);
  const n_phi = entry.n_phi ?? Math.max(Math.round(columns), LEAST);
  return { n_theta: rows ?? Math.max(Math.round(points / n_phi), LEAST), n_phi };
}

/** Errors: invalid_argument for a pattern that a bundle cannot hold. */
export function checkBundled(entry: ScanExportEntry): void {
  if (entry.scan_pattern === "risley_prism") {
    throw new AppError(
      "invalid_argument",
      "a bundle cannot describe the pattern of Risley prisms; set write_xml to false to export the points alone",
    );
  }
  if (entry.scan_pattern === "spinning_multibeam" && (entry.beam_elevation_angles_deg?.length ?? 0) === 0) {
    throw new AppError(
      "invalid_argument",
      "a spinning multibeam scan needs beam_elevation_angles_deg, the elevation of each beam",
    );
  }
}

/** The XML file of a bundle. */
export function bundleXml(scans: readonly BundleScan[], grids: readonly BundleGrid[]): string {
  const lines = ['<?xml version="1.0" encoding="UTF-8"?>', "<scanBundle>"];
  for (const scan of scans) lines.push("  <scan>", ...scanTags(scan).map((tag) => `    ${tag}`), "  </scan>");
  for (const grid of grids) lines.push("  <grid>", ...gridTags(grid).map((tag) => `    ${tag}`), "  </grid>");
  lines.push("</scanBundle>", "");
  return lines.join("\n");
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: XML 1.0 has no form for these characters
const NOT_XML = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g;
const escaped = (text: string): string => text.replace(NOT_XML, " ").replace(/[&<>]/g, (c) => `&#${c.charCodeAt(0)};`);
const tag = (name: string, ...values: readonly (string | number)[]): string =>
  `<${name}>${escaped(values.join(" "))}</${name}>`;
/** Nothing for a value that is null, or that equals the one an importer assumes. */
const optional = (name: string, value: string | number | null, assumed: string | number | null = null): string[] =>
  value === null || value === assumed ? [] : [tag(name, value)];

const MRAD = 1000;

function scanTags({ entry, file, trajectory, columns, size }: BundleScan): string[] {
  const { beam_divergence: divergence, return_mode: mode } = entry;
  const tilted = entry.tilt_roll_deg !== 0 || entry.tilt_pitch_deg !== 0;
  return [
    tag("filename", file),
    tag("ASCII_format", ...columns),
    tag("origin", ...entry.origin),
    tag("size", size.n_theta, size.n_phi),
    tag("thetaMin", entry.theta_min),
    tag("thetaMax", entry.theta_max),
    tag("phiMin", entry.phi_min),
    tag("phiMax", entry.phi_max),
    ...optional("exitDiameter", entry.beam_exit_diameter),
    ...optional("beamDivergence", divergence === null ? null : divergence / MRAD),
    ...(tilted ? [tag("scanTilt", entry.tilt_roll_deg, entry.tilt_pitch_deg)] : []),
    ...optional("scanAzimuthOffset", entry.scan_azimuth_offset, 0),
    ...(entry.scan_pattern === "spinning_multibeam" ? spinningTags(entry, trajectory, size) : []),
    ...optional("scannerModel", entry.scanner_model, "generic"),
    ...optional("returnMode", mode),
    ...optional("returnSelection", mode === "single" ? entry.return_selection : null),
    ...optional("maxReturns", mode === "multi" ? entry.max_returns : null),
  ];
}

/** A spinning scan reloads as one that follows a path: here two equal poses, one second and one revolution apart. */
function spinningTags(entry: ScanExportEntry, trajectory: string, { n_phi }: RasterSize): string[] {
  return [
    tag("scanPattern", "spinning_multibeam"),
    tag("beamElevationAngles", ...(entry.beam_elevation_angles_deg ?? [])),
    tag("azimuthStep", 360 / n_phi),
    tag("PRF", n_phi),
    tag("trajectoryFile", trajectory),
  ];
}

/** The path of a spinning scanner that stands still: its heading is the attitude of both poses. */
export function stationaryPath(entry: ScanExportEntry): string {
  const half = (-(entry.scan_azimuth_offset ?? 0) * Math.PI) / 360; // clockwise bearings, counter-clockwise attitudes
  const [x, y, z] = entry.origin;
  const pose = `${x},${y},${z},0,0,${Math.sin(half)},${Math.cos(half)}`;
  return ["t,x,y,z,qx,qy,qz,qw", `0,${pose}`, `1,${pose}`, ""].join("\n");
}

function gridTags(grid: BundleGrid): string[] {
  const [nx, ny, nz] = grid.counts;
  return [
    tag("center", ...grid.center),
    tag("size", ...grid.size),
    tag("Nx", nx),
    tag("Ny", ny),
    tag("Nz", nz),
    ...optional("rotation", grid.rotation, 0),
    ...(grid.column_offsets ? [tag("columnOffsets", ...grid.column_offsets)] : []),
    ...(grid.kept_columns?.includes(0) ? [tag("keptColumns", ...grid.kept_columns)] : []),
  ];
}
