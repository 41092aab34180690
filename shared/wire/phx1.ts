import { AppError } from "../errors.ts";
import { magicWord, viewOf, words } from "./bytes.ts";

/*
 * PHX1: a packed flat point cloud. Little-endian, 32-byte header; the magic is also the version.
 *
 * offset  size    type   meaning
 * 0       4       bytes  magic "PHX1"
 * 4       4       u32    point_count n
 * 8       1       u8     has_colors, 0 or 1
 * 9       1       u8     has_intensity, 0 or 1
 * 10      4       u32    miss_count: misses (sky points) of the file that are left out
 * 14      18      bytes  reserved, zero
 * 32      12 n    f32    positions x, y, z interleaved, metres (file frame minus the requested shift)
 * ...     12 n    f32    colors r, g, b in 0..1, only with has_colors
 * ...     4 n     f32    intensity, only with has_intensity
 */

export const PHX1_MAGIC = magicWord("PHX1");
export const PHX1_HEADER_BYTES = 32;
const MAX_POINTS = 0xffff_ffff;

export interface PackedPoints {
  readonly point_count: number;
  /** Misses of the file that are not among the points. */
  readonly miss_count: number;
  /** (n, 3) metres. */
  readonly positions: Float32Array;
  /** (n, 3) 0..1. */
  readonly colors: Float32Array | undefined;
  /** (n). */
  readonly intensity: Float32Array | undefined;
}

/** Bytes of a complete PHX1 body. */
export function packedPointsBytes(pointCount: number, hasColors: boolean, hasIntensity: boolean): number {
  return PHX1_HEADER_BYTES + pointCount * (12 + (hasColors ? 12 : 0) + (hasIntensity ? 4 : 0));
}

/** Encodes the header. Errors: unsupported if a count does not fit the format's uint32. */
export function encodePointsHeader(
  pointCount: number,
  hasColors: boolean,
  hasIntensity: boolean,
  missCount = 0,
): Uint8Array {
  for (const count of [pointCount, missCount]) {
    if (!Number.isInteger(count) || count < 0 || count > MAX_POINTS)
      throw new AppError("unsupported", `${count} points do not fit a PHX1 stream (at most ${MAX_POINTS})`);
  }
  const out = new Uint8Array(PHX1_HEADER_BYTES);
  const view = viewOf(out);
  view.setUint32(0, PHX1_MAGIC, true);
  view.setUint32(4, pointCount, true);
  view.setUint8(8, hasColors ? 1 : 0);
  view.setUint8(9, hasIntensity ? 1 : 0);
  view.setUint32(10, missCount, true);
  return out;
}

/** A complete body in one array, for small clouds and tests. Errors: invalid_argument if the array lengths differ. */
export function encodePoints(positions: Float32Array, colors?: Float32Array, intensity?: Float32Array): Uint8Array {
  const n = positions.length / 3;
  if (!Number.isInteger(n))
    throw new AppError("invalid_argument", `${positions.length} position values are not rows of 3`);
  if (colors && colors.length !== 3 * n) {
    throw new AppError("invalid_argument", `${colors.length} color values for ${n} points; three per point are needed`);
  }
  if (intensity && intensity.length !== n) {
    throw new AppError("invalid_argument", `${intensity.length} intensities for ${n} points; one per point is needed`);
  }
  const out = new Uint8Array(packedPointsBytes(n, colors !== undefined, intensity !== undefined));
  out.set(encodePointsHeader(n, colors !== undefined, intensity !== undefined));
  let at = PHX1_HEADER_BYTES;
  for (const part of [positions, colors, intensity]) {
    if (!part) continue;
    out.set(new Uint8Array(part.buffer, part.byteOffset, part.byteLength), at);
    at += part.byteLength;
  }
  return out;
}

/** Decodes a body. Errors: invalid_file, naming the broken rule; lengths are checked before they are used. */
export function decodePoints(bytes: Uint8Array): PackedPoints {
  if (bytes.length < PHX1_HEADER_BYTES) {
    throw new AppError("invalid_file", `PHX1: ${bytes.length} bytes, but the header alone has ${PHX1_HEADER_BYTES}`);
  }
  const view = viewOf(bytes);
  if (view.getUint32(0, true) !== PHX1_MAGIC)
    throw new AppError("invalid_file", 'PHX1: the body must start with "PHX1"');
  const n = view.getUint32(4, true);
  const flags = [view.getUint8(8), view.getUint8(9)] as const;
  if (flags[0] > 1 || flags[1] > 1)
    throw new AppError("invalid_file", `PHX1: flags ${flags.join(", ")} are not 0 or 1`);
  const needed = packedPointsBytes(n, flags[0] === 1, flags[1] === 1);
  if (bytes.length < needed) {
    throw new AppError("invalid_file", `PHX1: ${n} points need ${needed} bytes, got ${bytes.length}`);
  }
  const colorsAt = PHX1_HEADER_BYTES + 12 * n;
  return {
    point_count: n,
    miss_count: view.getUint32(10, true),
    positions: words(bytes, PHX1_HEADER_BYTES, 3 * n, Float32Array),
    colors: flags[0] ? words(bytes, colorsAt, 3 * n, Float32Array) : undefined,
    intensity: flags[1] ? words(bytes, colorsAt + (flags[0] ? 12 * n : 0), n, Float32Array) : undefined,
  };
}
