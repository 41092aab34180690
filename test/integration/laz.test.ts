import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { addon } from "../../backend/native/core/addon.ts";
import type { DType, NativeColumn } from "../../backend/native/core/handles.ts";
import { type LasWriteParams, writeLas } from "../../backend/native/files/writers.ts";
import { create, exported } from "../support/app/app.ts";
import { lasBytes } from "../support/scans/las-bytes.ts";
import { unpack } from "../support/scans/laz-perf.ts";
import { sessionTest } from "../support/session/session-test.ts";

const made = sessionTest();

const recordsOf = (las: Buffer) => las.subarray(las.readUInt32LE(96));

const COUNT = 60_000; // two chunks
type Values = (i: number) => number;
const noise = (i: number) => Math.imul(i, 2654435761) >>> 0;

function column(dtype: DType, values: Values, per_row = 1): NativeColumn {
  const arrays = { u8: Uint8Array, u16: Uint16Array, i32: Int32Array, f32: Float32Array, f64: Float64Array };
  const kind = dtype === "rgb16" ? "u16" : dtype === "vec3d" ? "f64" : (dtype as keyof typeof arrays);
  const array = new arrays[kind](COUNT * per_row).map((_: number, i: number) => values(i));
  return new addon.Column(dtype, new Uint8Array(array.buffer));
}

/** Runs, jumps, repeats and extremes of every field: what the compressor's contexts tell apart. */
const made_columns = {
  positions: column(
    "vec3d",
    (i) => {
      const row = Math.floor(i / 3);
      if (i % 3 === 2) return (row * 7919) % 31;
      return 100 * Math.sin(row / (i % 3 === 0 ? 500 : 300)) + (row % 977 === 0 ? 800 : 0);
    },
    3,
  ),
  colors: column(
    "rgb16",
    (i) => {
      const row = Math.floor(i / 3);
      if (row % 2000 < 1000) return (row * 256) % 65536; // grey, in 8 bits
      return i % 7 === 0 ? 65535 : (i * 31) % 65536;
    },
    3,
  ),
  intensity: column("u16", (i) => (i * 31) % 65536),
  timestamps: column("f64", (i) => 3.5e8 + i * 1e-4 + (i % 5000 === 0 ? 1e3 : 0) - (i % 7001 === 0 ? 1e6 : 0)),
  nir: column("u16", (i) => (i % 3 === 0 ? noise(i) % 65536 : 4096)),
  fields: {
    return_number: column("u8", (i) => 1 + (i % 3)),
    number_of_returns: column("u8", (i) => 3 - (i % 2)),
    classification: column("u8", (i) => (i % 500 < 250 ? 2 : i % 31)),
    synthetic: column("u8", (i) => (i % 97 === 0 ? 1 : 0)),
    user_data: column("u8", (i) => (noise(i) >>> 8) % 256),
    point_source_id: column("u16", (i) => Math.floor(i / 20_000)),
  },
  older: { scan_angle_rank: column("f32", (i) => (i % 181) - 90) },
  newer: {
    scan_angle: column("f32", (i) => (i % 30_001) - 15_000),
    scanner_channel: column("u8", (i) => (Math.floor(i / 3000) + (i % 17 === 0 ? 1 : 0)) % 4),
    overlap: column("u8", (i) => (i % 89 === 0 ? 1 : 0)),
  },
  extras: {
    amplitude: column("f32", (i) => i / 7),
    counter: column("u8", (i) => i % 251),
    wide: column("f64", (i) => Math.sin(i)),
    id: column("i32", (i) => noise(i) | 0),
  },
};

const PARAMS: LasWriteParams = {
  version: "1.2",
  legacy_points: false,
  compressed: false,
  scale_m: 0.001,
  step_known: false,
  grid: null,
  placements: [],
  constants: [],
  adjusted_standard_time: false,
  epsg: 0,
  epsg_is_geographic: false,
  wkt: "",
  geotiff: null,
  system_identifier: "",
  generating_software: "",
  creation_day_of_year: 0,
  creation_year: 0,
};

/** The same points as LAS and LAZ of a point format. */
async function bothOf(format: number, extra_bytes: boolean, version: "1.2" | "1.4") {
  const modern = format >= 6;
  const scalars = {
    ...made_columns.fields,
    ...(modern ? made_columns.newer : made_columns.older),
    ...(format === 8 ? { nir: made_columns.nir } : {}),
    ...(extra_bytes ? made_columns.extras : {}),
  };
  const view = {
    positions: made_columns.positions,
    offset: [0, 0, 0] as const,
    colors: [2, 3, 7, 8].includes(format) ? made_columns.colors : null,
    intensity: made_columns.intensity,
    timestamps: [1, 3, 6, 7, 8].includes(format) ? made_columns.timestamps : null,
    beam_origins: null,
    scalars: Object.entries(scalars).map(([slug, native]) => ({ slug, label: "", column: native })),
    skip: null,
    stride: 1,
  };
  const files = ["las", "laz"].map(async (as) => {
    const path = join(made.folder, `format.${as}`);
    const params = { ...PARAMS, version, legacy_points: !modern, compressed: as === "laz" };
    const { warnings } = await writeLas(view, params, path).promise;
    expect(warnings).toEqual([]);
    return readFileSync(path);
  });
  const [las = Buffer.alloc(0), laz = Buffer.alloc(0)] = await Promise.all(files);
  return { las, laz };
}

const FORMATS = [0, 1, 2, 3, 6, 7, 8].flatMap((format) =>
  [false, true].flatMap((extra_bytes) =>
    (format < 6 ? (["1.2", "1.4"] as const) : (["1.4"] as const)).map(
      (version) => [format, extra_bytes ? "with" : "without", version] as const,
    ),
  ),
);

test.each(FORMATS)(
  "another decoder reads point format %i %s extra bytes, LAS %s, byte for byte",
  async (format, extra, version) => {
    const { las, laz } = await bothOf(format, extra === "with", version);
    expect([las[104], laz[104], las[25]]).toEqual([format, format | 128, version === "1.2" ? 2 : 4]);
    const unpacked = await unpack(laz);
    expect(unpacked.format).toBe(format);
    expect(unpacked.records.length).toBe(COUNT * las.readUInt16LE(105));
    expect(unpacked.records.equals(recordsOf(las))).toBe(true);
  },
);

test("a session with time, colour and extra bytes, through the service", async () => {
  const rows = Array.from({ length: 60_000 }, (_, i) => ({
    x: i / 100,
    y: (i % 977) / 10,
    z: (i * 7919) % 31,
    gps_time: 3.5e8 + i * 1e-4,
    return_number: 1 + (i % 3),
    rgb: [i % 65536, 256 * (i % 200), 65535 - (i % 65536)] as const,
    extra: { amplitude: Math.fround(i / 7) },
  }));
  const bytes = lasBytes(rows, { extras: [{ name: "amplitude", type: "f32" }] });
  const { session_id } = await create(made, made.file("session.las", bytes));
  const unpacked = await unpack(await exported(made, session_id, "laz"));
  expect(unpacked.format).toBe(7);
  expect(unpacked.records.equals(recordsOf(await exported(made, session_id, "las")))).toBe(true);
});
