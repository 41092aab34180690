// Stored pulses of another simulator (lidar_reference of the test data): directions, distances and the values that an
// independent inversion in double precision found.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { DATA } from "../support/scans/data-folder.ts";

export const REFERENCE_FOLDER = join(DATA, "lidar_reference", "lad");

export const REFERENCE_CASES: readonly string[] = existsSync(REFERENCE_FOLDER)
  ? readdirSync(REFERENCE_FOLDER, { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => name)
      .sort()
  : [];

interface ScanDescription {
  readonly origin: [number, number, number];
  readonly theta_min_deg: number;
  readonly theta_max_deg: number;
  readonly phi_min_deg: number;
  readonly phi_max_deg: number;
  readonly n_theta: number;
  readonly n_phi: number;
  readonly return_type: "single" | "multi";
  readonly file: string;
}

export interface TriangleLimits {
  readonly lmax: number;
  readonly max_aspect_ratio: number;
}

export interface ReferenceCase {
  readonly grid: {
    readonly center: [number, number, number];
    readonly size: [number, number, number];
    readonly nx: number;
    readonly ny: number;
    readonly nz: number;
    readonly rotation: number;
  };
  readonly scans: readonly ScanDescription[];
  /** Limits of the triangles: short edges, and twice the width of a leaf. */
  readonly helios_settings_A: TriangleLimits;
  readonly helios_settings_B: TriangleLimits;
  /** 0.5 and the true mean G. */
  readonly gtheta_override_values: readonly [number, number];
}

export const readCase = (name: string): ReferenceCase =>
  JSON.parse(readFileSync(join(REFERENCE_FOLDER, name, "case.json"), "utf8")) as ReferenceCase;

/** The rows of voxels.csv by column name. */
export function readVoxels(name: string): readonly ReadonlyMap<string, number>[] {
  const [head = "", ...lines] = readFileSync(join(REFERENCE_FOLDER, name, "voxels.csv"), "utf8")
    .trim()
    .split("\n");
  const columns = head.split(",");
  return lines.map((line) => {
    const cells = line.split(",");
    return new Map(columns.map((column, i) => [column, cells[i] ? Number(cells[i]) : Number.NaN]));
  });
}

/** The float32 values of a gzipped npy file. */
function readNpy(path: string): Float32Array {
  const bytes = gunzipSync(readFileSync(path));
  const major = bytes[6];
  const start = major === 1 ? 10 + bytes.readUInt16LE(8) : 12 + bytes.readUInt32LE(8);
  if (!bytes.subarray(0, start).toString("latin1").includes("<f4")) throw new Error(`${path} does not hold float32`);
  return new Float32Array(Uint8Array.from(bytes.subarray(start)).buffer);
}

/** A row per return or miss. */
export interface ReferencePulses {
  readonly positions: Float64Array;
  readonly is_miss: Uint8Array;
  /** Pulse number, which is also the time stamp of the simulator. */
  readonly times: Float64Array;
  readonly target_index: Uint8Array;
  /** Energy of each return; 1 = a surface that fills the beam and faces it. */
  readonly intensity: Float32Array;
}

const FAR = 1001;

/** Unit direction of a pulse; phi = 0 is +y and grows clockwise, and drifts by one column step during a column. */
function direction(s: ScanDescription, pulse: number): [number, number, number] {
  const [row, column] = [pulse % s.n_theta, Math.floor(pulse / s.n_theta)];
  const theta = ((s.theta_min_deg + (row * (s.theta_max_deg - s.theta_min_deg)) / (s.n_theta - 1)) * Math.PI) / 180;
  const step = (s.phi_max_deg - s.phi_min_deg) / (s.n_phi - 1);
  const phi = ((s.phi_min_deg + column * step + (row * step) / s.n_theta) * Math.PI) / 180;
  return [Math.sin(theta) * Math.sin(phi), Math.sin(theta) * Math.cos(phi), Math.cos(theta)];
}

export function readPulses(name: string, scan: ScanDescription): ReferencePulses {
  const values = readNpy(join(REFERENCE_FOLDER, name, scan.file));
  const single = scan.return_type === "single";
  const rows = single ? values.length : values.length / 5;
  const value = (row: number, field: number) => values[5 * row + field] ?? Number.NaN;
  const times = Float64Array.from({ length: rows }, (_, row) => (single ? row : value(row, 0)));
  const target_index = Uint8Array.from({ length: rows }, (_, row) => (single ? 0 : value(row, 2)));
  const intensity = Float32Array.from({ length: rows }, (_, row) => (single ? 1 : value(row, 4)));
  const is_miss = new Uint8Array(rows);
  const positions = new Float64Array(3 * rows);
  for (let row = 0; row < rows; row += 1) {
    const range = single ? (values[row] ?? -1) : value(row, 1);
    is_miss[row] = range < 0 ? 1 : 0;
    const along = direction(scan, times[row] ?? 0);
    const far = range < 0 ? FAR : range;
    positions.set(
      along.map((part, axis) => (scan.origin[axis] ?? 0) + far * part),
      3 * row,
    );
  }
  return { positions, is_miss, times, target_index, intensity };
}
