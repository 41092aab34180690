// Scans of another program's ray tracer (lidar_reference), with mixed pixels at the edges of their raster.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { DATA } from "../support/scans/data-folder.ts";
import { type Edge, type MixedPixel, TRAILS } from "./denoise-plot.ts";
import { uniform } from "./random.ts";
import type { Vector } from "./vector.ts";

const BEAMS_PER_TRAIL = 8;
const COLUMNS = 8; // row, column, direction (3), distance (-1 = miss), cosine of incidence, flag

interface Pulse {
  readonly row: number;
  readonly column: number;
  readonly ray: Vector;
  readonly range: number;
}

/** Little-endian float32 rows of a .npy file. */
function rows(path: string): Float32Array {
  const bytes = gunzipSync(readFileSync(path));
  const begin = 10 + bytes.readUInt16LE(8);
  return new Float32Array(bytes.buffer.slice(bytes.byteOffset + begin, bytes.byteOffset + bytes.length));
}

function pulses(path: string): Pulse[] {
  const values = rows(path);
  const at = (i: number, column: number) => values[COLUMNS * i + column] ?? Number.NaN;
  return Array.from({ length: values.length / COLUMNS }, (_, i) => ({
    row: at(i, 0),
    column: at(i, 1),
    ray: [at(i, 2), at(i, 3), at(i, 4)] as const,
    range: at(i, 5),
  }));
}

/** A scan from the origin; one in eight beams with something over 0.3 m behind beside it gives a mixed pixel. */
export function helios(scene: string, place: number) {
  const all = pulses(join(DATA, `lidar_reference/lidar/${scene}_pos${place}.npy.gz`));
  const range = new Map(all.map((pulse) => [`${pulse.row},${pulse.column}`, pulse.range]));
  const next = uniform(place);
  const xyz: number[] = [];
  const edges: Edge[] = [];
  const trails: MixedPixel[] = [];
  for (const { row, column, ray, range: near } of all) {
    if (!(near > 0)) continue;
    const on = (length: number): Vector => [length * ray[0], length * ray[1], length * ray[2]];
    const beside = [`${row},${column + 1}`, `${row},${column - 1}`, `${row + 1},${column}`, `${row - 1},${column}`];
    const far = beside.map((key) => range.get(key) ?? 0).filter((one) => one > near + 0.3);
    const chosen = far[Math.floor(next() * far.length)];
    if (chosen !== undefined && next() * BEAMS_PER_TRAIL < 1) {
      trails.push({ p: on(near + TRAILS.phase(chosen - near) * (0.05 + 0.9 * next())), origin: [0, 0, 0] });
      continue;
    }
    xyz.push(...on(near));
    if (chosen !== undefined) edges.push({ ray, near, far: chosen });
  }
  return {
    name: `${scene} ${place}, another tracer`,
    xyz: Float64Array.from(xyz),
    edges,
    origins: new Float64Array(3),
    trails,
  };
}
