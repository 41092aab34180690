// A scan in the order of its pulses with eight scalar columns, as a binary PLY file.
import { closeSync, existsSync, openSync, renameSync, statSync, writeSync } from "node:fs";
import { join } from "node:path";
import { dataFolder, makeDataFolder } from "./folders.ts";

/** Scalar columns besides colour, intensity and time. */
export const SCALARS = {
  class: "uchar",
  return_index: "uchar",
  return_count: "uchar",
  deviation: "ushort",
  tree: "ushort",
  strip: "ushort",
  reflectance: "float",
  amplitude: "float",
} as const;

const FIELDS: readonly (readonly [name: string, type: keyof typeof SIZES])[] = [
  ["x", "double"],
  ["y", "double"],
  ["z", "double"],
  ["red", "uchar"],
  ["green", "uchar"],
  ["blue", "uchar"],
  ["intensity", "ushort"],
  ["gps_time", "double"],
  ...Object.entries(SCALARS),
];
const SIZES = { uchar: 1, ushort: 2, float: 4, double: 8 } as const;
const ROW_BYTES = FIELDS.reduce((sum, [, type]) => sum + SIZES[type], 0);
const CHUNK = 100_000;
/** Pulses of one turn of the mirror. */
const LINE = 2000;

/** Uniform numbers in [0, 1): xorshift with 32 bits (Marsaglia 2003). */
function uniform(seed: number): () => number {
  let state = seed;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 2 ** 32;
  };
}

/** The values of a point, in the order of FIELDS. */
function point(i: number, random: () => number): number[] {
  const line = Math.floor(i / LINE);
  const [turn, rise] = [line * 0.0004, ((i % LINE) / LINE - 0.4) * 1.6];
  const isTree = Math.sin(turn * 40) * Math.cos(rise * 9) > 0.3;
  const range = (isTree ? 12 : 25) + 3 * Math.sin(turn * 7) + 0.02 * (random() - 0.5);
  const millimetres = (value: number) => Math.round(value * 1000) / 1000;
  const xyz = [
    500_000 + range * Math.cos(turn) * Math.cos(rise),
    4_000_000 + range * Math.sin(turn) * Math.cos(rise),
    100 + range * Math.sin(rise),
  ].map(millimetres);
  const grey = 90 + 40 * Math.sin(turn * 13) + 12 * random();
  const returns = isTree ? 1 + Math.floor(3 * random()) : 1;
  const hundredths = (value: number) => Math.round(value * 100) / 100;
  return [
    ...xyz,
    ...[grey, grey + 9, grey / 2].map(Math.floor),
    Math.floor(20_000 + 6000 * Math.sin(turn * 5) + 900 * random()),
    350_000_000 + i / 300_000,
    isTree ? 5 : 2,
    1 + Math.floor(returns * random()),
    returns,
    Math.floor(30 * random() ** 3),
    isTree ? 1 + (Math.floor(turn * 40) % 300) : 0,
    7 + Math.floor(i / 3_000_000),
    hundredths(-12 + 4 * Math.sin(rise * 11) + 2 * random()),
    hundredths(24 - range / 3 + random()),
  ];
}

/** Path of the scan with `count` points. Made once, checked by size. */
export function scannedPly(count: number): string {
  makeDataFolder();
  const path = join(dataFolder, `pulses_${count / 1e6}M.ply`);
  const header = [
    "ply",
    "format binary_little_endian 1.0",
    `element vertex ${count}`,
    ...FIELDS.map(([name, type]) => `property ${type} ${name}`),
    "end_header\n",
  ].join("\n");
  if (existsSync(path) && statSync(path).size === header.length + count * ROW_BYTES) return path;
  console.error(`making ${path} (once)`);
  const file = openSync(`${path}.new`, "w");
  try {
    writeSync(file, header);
    const random = uniform(19);
    for (let first = 0; first < count; first += CHUNK)
      writeSync(file, rows(first, Math.min(count, first + CHUNK), random));
  } finally {
    closeSync(file);
  }
  renameSync(`${path}.new`, path);
  return path;
}

function rows(first: number, last: number, random: () => number): Uint8Array {
  const bytes = new Uint8Array((last - first) * ROW_BYTES);
  const view = new DataView(bytes.buffer);
  let at = 0;
  for (let i = first; i < last; i += 1) {
    for (const [k, value] of point(i, random).entries()) {
      const type = FIELDS[k]?.[1] ?? "double";
      if (type === "uchar") view.setUint8(at, value);
      else if (type === "ushort") view.setUint16(at, value, true);
      else if (type === "float") view.setFloat32(at, value, true);
      else view.setFloat64(at, value, true);
      at += SIZES[type];
    }
  }
  return bytes;
}
