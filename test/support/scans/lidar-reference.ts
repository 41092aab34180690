import { readFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { DATA } from "./data-folder.ts";

/** One scan of a case of lidar_reference/lad: its hits, with the returns of their pulses. */
export interface ReferenceScan {
  readonly origin: [number, number, number];
  readonly points: [number, number, number][];
  /** Only of scans with several returns per pulse. */
  readonly scalar_columns?: Record<"target_index" | "target_count" | "timestamp", number[]>;
}

export interface ReferenceGrid {
  readonly center: [number, number, number];
  readonly size: [number, number, number];
  readonly nx: number;
  readonly ny: number;
  readonly nz: number;
  /** Degrees. */
  readonly rotation: number;
}

export interface ReferenceCase {
  readonly grid: ReferenceGrid;
  readonly settings: Record<"A" | "B", { readonly lmax: number; readonly max_aspect_ratio: number }>;
  readonly scans: ReferenceScan[];
  /** Triangles and area (m2) of the reference, by setting. */
  readonly triangles: Record<"A" | "B", readonly [number, number]>;
}

const folder = join(DATA, "lidar_reference/lad");
const json = (path: string) => JSON.parse(readFileSync(join(folder, path), "utf8"));

export interface RasterOfScan {
  readonly origin: [number, number, number];
  readonly file: string;
  readonly return_type: "single" | "multi";
  readonly n_theta: number;
  readonly n_phi: number;
  readonly theta_min_deg: number;
  readonly theta_max_deg: number;
  readonly phi_min_deg: number;
  readonly phi_max_deg: number;
}

function float32(path: string): Float32Array {
  const bytes = gunzipSync(readFileSync(path));
  const begin = 10 + bytes.readUInt16LE(8);
  return new Float32Array(bytes.buffer.slice(bytes.byteOffset + begin, bytes.byteOffset + bytes.length));
}

/** Direction of a pulse (MANIFEST: zenith runs fastest, azimuth clockwise from +y, drifting by one column per column). */
function direction(scan: RasterOfScan, pulse: number): [number, number, number] {
  const row = pulse % scan.n_theta;
  const column = Math.floor(pulse / scan.n_theta);
  const radians = Math.PI / 180;
  const theta = scan.theta_min_deg + (row * (scan.theta_max_deg - scan.theta_min_deg)) / (scan.n_theta - 1);
  const step = (scan.phi_max_deg - scan.phi_min_deg) / (scan.n_phi - 1);
  const phi = scan.phi_min_deg + (column + row / scan.n_theta) * step;
  const s = Math.sin(theta * radians);
  return [s * Math.sin(phi * radians), s * Math.cos(phi * radians), Math.cos(theta * radians)];
}

function scanOf(name: string, scan: RasterOfScan): ReferenceScan {
  const values = float32(join(folder, name, scan.file));
  const single = scan.return_type === "single";
  const width = single ? 1 : 5;
  const points: [number, number, number][] = [];
  const columns = { target_index: [] as number[], target_count: [] as number[], timestamp: [] as number[] };
  for (let i = 0; i < values.length / width; i += 1) {
    const at = (k: number) => values[width * i + k] ?? Number.NaN;
    const pulse = single ? i : at(0);
    const range = single ? at(0) : at(1);
    if (!(range > 0)) continue;
    const [x, y, z] = direction(scan, pulse);
    points.push([scan.origin[0] + range * x, scan.origin[1] + range * y, scan.origin[2] + range * z]);
    if (single) continue;
    columns.target_index.push(at(2));
    columns.target_count.push(at(3));
    columns.timestamp.push(pulse);
  }
  return { origin: scan.origin, points, ...(single ? {} : { scalar_columns: columns }) };
}

/** The pulses of a scan of a case: hits with the number of their pulse, and the directions of the pulses that hit nothing. */
export interface ReferencePulses {
  readonly raster: RasterOfScan;
  readonly hits: readonly { readonly pulse: number; readonly at: [number, number, number] }[];
  readonly misses: ReadonlyMap<number, [number, number, number]>;
}

export function referencePulses(name: string, scan: number): ReferencePulses {
  const raster: RasterOfScan = json(`${name}/case.json`).scans[scan];
  const values = float32(join(folder, name, raster.file));
  const width = raster.return_type === "single" ? 1 : 5;
  const hits: { pulse: number; at: [number, number, number] }[] = [];
  const misses = new Map<number, [number, number, number]>();
  for (let i = 0; i < raster.n_theta * raster.n_phi; i += 1) misses.set(i, direction(raster, i));
  for (let i = 0; i < values.length / width; i += 1) {
    const pulse = width === 1 ? i : (values[width * i] ?? Number.NaN);
    const range = values[width * i + (width === 1 ? 0 : 1)] ?? Number.NaN;
    if (!(range > 0)) continue;
    const [x, y, z] = direction(raster, pulse);
    const [ox, oy, oz] = raster.origin;
    hits.push({ pulse, at: [ox + range * x, oy + range * y, oz + range * z] });
    misses.delete(pulse);
  }
  return { raster, hits, misses };
}

/** The names of all cases. */
export const referenceCases = (): string[] => Object.keys(json("triangulation_check.json"));

export function referenceCase(name: string): ReferenceCase {
  const one = json(`${name}/case.json`);
  const found = json("triangulation_check.json")[name];
  const settings = ({ lmax, max_aspect_ratio }: { lmax: number; max_aspect_ratio: number }) => ({
    lmax,
    max_aspect_ratio,
  });
  const reference = (setting: "A" | "B") => [found[setting].triangles_in_grid[1], found[setting].area_m2[1]] as const;
  return {
    grid: one.grid,
    settings: { A: settings(one.helios_settings_A), B: settings(one.helios_settings_B) },
    scans: one.scans.map((scan: RasterOfScan) => scanOf(name, scan)),
    triangles: { A: reference("A"), B: reference("B") },
  };
}
