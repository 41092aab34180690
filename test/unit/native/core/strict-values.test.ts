import { expect, test } from "vitest";
import { addon } from "../../../../backend/native/core/addon.ts";
import type { NativeColumn } from "../../../../backend/native/core/handles.ts";

// The facades are typed, so every wrong value here is what a programming error on this side would pass.
const native = addon as unknown as Record<string, (...args: unknown[]) => { promise: Promise<unknown> }>;
const column = (dtype: string, bytes: number) => new addon.Column(dtype as "u8", new Uint8Array(bytes));
const positions = column("vec3d", 24);

/** The addon refuses a call before a job starts: code invalid_argument and a message that holds `words`. */
function expectRefusal(call: () => unknown, ...words: string[]) {
  try {
    call();
  } catch (error) {
    expect(error).toMatchObject({ code: "invalid_argument" });
    for (const word of words) expect((error as Error).message).toContain(word);
    return;
  }
  expect.fail(`not refused: ${words.join(" ")}`);
}

const noise = { method: "ror", radius: 1, nb_points: 1, tile_points: 0 };
const cloth = {
  cloth_resolution: 1,
  rigidness: 3,
  class_threshold: 0.5,
  iterations: 10,
  slope_smooth: false,
  auto_class_threshold: false,
  ignore_low_outliers: true,
  want_heights: false,
  tile_min_points: 1e9,
  tile_target_points: 1e6,
};
const raster = { frame: { min_x: 0, min_y: 0, cell: 1, nx: 2, ny: 2 }, percentile: 0, method: "tin", gaps: "leave" };
const frame = { unit_scale: 1, shift: [0, 0, 0] };
const text = {
  delimiter: "comma",
  decimal_comma: false,
  skip_lines: 0,
  expected_columns: 3,
  x_index: 0,
  y_index: 1,
  z_index: 2,
  frame,
  max_rows: 10,
  columns: [],
};
const las = {
  version: "1.4",
  compressed: false,
  scale_m: 0.001,
  step_known: false,
  adjusted_standard_time: false,
  epsg: 0,
  epsg_is_geographic: false,
  wkt: "",
  legacy_points: false,
  grid: null,
  placements: [],
  constants: [],
  geotiff: null,
  system_identifier: "",
  generating_software: "",
  creation_day_of_year: 1,
  creation_year: 2024,
};
const view = { positions, offset: [0, 0, 0], stride: 1, scalars: [] };

const names: [string, (name: unknown) => unknown, string[]][] = [
  [
    "method of noise",
    (method) => native.labelNoise?.(positions, null, { ...noise, method }, false),
    ["ror", "sor", "voxel_count", "auto"],
  ],
  [
    "scale of colours",
    (scale) => native.mergeRgb?.(column("u8", 1), column("u8", 1), column("u8", 1), scale),
    ["unit", "byte", "u16"],
  ],
  ["device", (device) => native.cloudStats?.(positions, null, { device }), ["cpu", "cuda"]],
  ["logic of masks", (how) => native.combineMasks?.([{ mask: column("u8", 1), invert: false }], how), ["and", "or"]],
  [
    "method of rasters",
    (method) => native.terrainRaster?.(positions, null, { ...raster, at_centers: false, method }, null),
    ["tin", "nearest", "idw"],
  ],
  [
    "gaps of rasters",
    (gaps) => native.terrainRaster?.(positions, null, { ...raster, at_centers: false, gaps }, null),
    ["leave", "footprint", "fill"],
  ],
  ["delimiter", (delimiter) => native.readText?.("a", { ...text, delimiter }), ["comma", "semicolon", "tab"]],
  [
    "type of a text column",
    (type) => native.readText?.("a", { ...text, columns: [{ index: 0, name: "a", type }] }),
    ["auto", "float", "f64"],
  ],
  [
    "format of text",
    (format) => native.writeText?.(view, { format, layout: "cloud" }, "a"),
    ["xyz", "txt", "csv", "ply", "obj"],
  ],
  ["version of LAS", (version) => native.writeLas?.(view, { ...las, version }, "a"), ["1.2", "1.4"]],
  [
    "encoding of rows",
    (encoding) => native.unionRows?.(1, null, [{ encoding, data: column("u8", 1), count: 1 }]),
    ["rows", "runs", "bits"],
  ],
  ["element type", (dtype) => column(dtype as string, 8), ["u8", "f64", "vec3d", "rgb16"]],
];

test.each(names)("an unknown %s is refused with the list of those there are", (_, call, allowed) => {
  expectRefusal(() => call("of no kind"), "of no kind", ...allowed);
  for (const value of [7, true, {}]) expectRefusal(() => call(value));
});

const counts: [string, (count: unknown) => unknown][] = [
  ["nb_points", (nb_points) => native.labelNoise?.(positions, null, { ...noise, nb_points }, false)],
  ["tile_points", (tile_points) => native.labelNoise?.(positions, null, { ...noise, tile_points }, false)],
  [
    "nb_neighbors",
    (nb_neighbors) => native.labelNoise?.(positions, null, { method: "sor", nb_neighbors, std_ratio: 1 }, false),
  ],
  [
    "min_points",
    (min_points) =>
      native.labelNoise?.(positions, null, { method: "voxel_count", voxel: 1, min_points, tile_points: 0 }, false),
  ],
  ["rigidness", (rigidness) => native.clothSimulation?.(positions, null, { ...cloth, rigidness })],
  ["iterations", (iterations) => native.clothSimulation?.(positions, null, { ...cloth, iterations })],
  ["tile_min_points", (tile_min_points) => native.clothSimulation?.(positions, null, { ...cloth, tile_min_points })],
  ["points", (points) => native.clothSimulationCost?.(points, [1, 1], 1)],
  ["max_samples", (max_samples) => native.pointSpacing?.(positions, null, { max_samples, seed: null })],
  ["seed", (seed) => native.pointSpacing?.(positions, null, { max_samples: 1, seed: seed ?? "none" })],
  ["max_poses", (count) => native.beamTrajectory?.(column("f64", 8), positions, count)],
  ["rows", (rows) => native.hitMask?.(null, null, rows)],
  ["threads", (threads) => native.cloudStats?.(positions, null, { threads: threads ?? "none" })],
  ["point_count", (count) => native.octreeBuildCost?.(count, 1)],
  ["bytes_per_point", (count) => native.octreeBuildCost?.(1, count)],
  [
    "leaf_capacity",
    (leaf_capacity) => native.octreeContentHash?.({ positions, attributes: [] }, { scale: 1, leaf_capacity }),
  ],
  ["first_row", (first_row) => native.readPly?.("a", { frame, first_row, row_count: null })],
  ["row_count", (row_count) => native.readPcd?.("a", { frame, first_row: 0, row_count: row_count ?? "none" })],
  ["scan_index", (scan_index) => native.readE57?.("a", { frame, scan_index: scan_index ?? "none" })],
  ["max_rows", (max_rows) => native.readPlyHeader?.("a", max_rows)],
  ["max_lines", (max_lines) => native.sampleText?.("a", max_lines)],
  ["x_index", (x_index) => native.readText?.("a", { ...text, x_index })],
  ["stride", (stride) => native.writePts?.({ ...view, stride }, "a")],
  [
    "creation_year",
    (creation_year) =>
      native.writeLas?.(view, { ...las, creation_year: creation_year === -1 ? 0.5 : creation_year }, "a"),
  ],
  [
    "nx",
    (nx) =>
      native.terrainRaster?.(positions, null, { ...raster, at_centers: false, frame: { ...raster.frame, nx } }, null),
  ],
];

test.each(counts)("%s is a whole number, not negative, not a text", (name, call) => {
  for (const value of [-1, 0.5, Number.NaN, Number.POSITIVE_INFINITY, 1e300, "1", undefined])
    expectRefusal(() => call(value), name);
});

test("an unknown option is refused with the list of those there are", () => {
  expectRefusal(() => native.cloudStats?.(positions, null, { thread: 1 }), "device", "threads", "thread");
  expectRefusal(() => native.cloudStats?.(positions, null, 3), "options");
});

test("booleans, texts, lists and columns are not converted", () => {
  expectRefusal(() => native.labelNoise?.(positions, null, noise, 1), "scatter");
  expectRefusal(() => native.clothSimulation?.(positions, null, { ...cloth, slope_smooth: 0 }), "slope_smooth");
  expectRefusal(() => native.readLas?.(7, {}), "path");
  expectRefusal(() => native.columnStats?.("a", null), "columns");
  expectRefusal(() => native.cloudStats?.({}, null), "native column");
  expectRefusal(() => native.cloudStats?.(column("f64", 8), null), "vec3d", "f64");
  expectRefusal(() => native.toF32?.(positions, { shift: [0, 0], divisor: 1 }), "shift", "3");
  expectRefusal(() => native.mapColumnFile?.(null), "path");
});

test("a released column and a wrong place in it are refused", () => {
  const used: NativeColumn = column("u8", 4);
  for (const offset of [-1, 0.5, Number.NaN])
    expectRefusal(() => used.readInto(new Uint8Array(4), offset), "byteOffset");
  expectRefusal(() => used.readInto([1] as unknown as Uint8Array, 0), "out");
  used.release();
  expectRefusal(() => used.readInto(new Uint8Array(4), 0), "released");
  expectRefusal(() => column("f64", 7), "element size");
});
