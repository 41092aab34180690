import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { CreateSessionTail } from "../../shared/contract/cloud-session/create.ts";
import { create, exportTail } from "../support/app/app.ts";
import { DATA, isQuick } from "../support/scans/data-folder.ts";
import { type LasRow, lasBytes } from "../support/scans/las-bytes.ts";
import { sessionTest } from "../support/session/session-test.ts";
import { differences, type StoredColumn, storedColumns } from "../support/session/session-values.ts";

const present = existsSync(join(DATA, "MANIFEST.md"));
if (!present) console.log("round trips of real scans: skipped, the test data is not there (APP_TEST_DATA)");

const made = sessionTest();

const metaOf = async ({ session_id }: CreateSessionTail) => (await made.deps.sessions.get(session_id)).state.meta;

/** Exports a session and imports what was written. */
async function again(first: CreateSessionTail, format: string, wishes: object = {}, columns: string[] | null = null) {
  const dest_path = join(made.folder, `again.${format}`);
  const request = {
    source: { session_id: first.session_id, want_colors: true },
    format,
    dest_path,
    overwrite: true,
    columns,
  };
  const tail = await exportTail(made, request);
  expect(tail.error).toBeNull();
  const second = await create(made, dest_path, wishes);
  const changed = await differences(made, first.session_id, second.session_id);
  return { second, changed, warnings: tail.warnings ?? [] };
}

/** LAS and LAZ keep everything: columns bit for bit, names, coordinate system, clock, steps. */
async function keepsEverything(first: CreateSessionTail, wishes: object = {}, truths: RegExp[] = TRUE_WARNINGS) {
  for (const format of ["las", "laz"]) {
    const { second, changed, warnings } = await again(first, format, wishes);
    expect(changed, format).toEqual([]);
    for (const warning of warnings)
      expect(
        truths.some((truth) => truth.test(warning)),
        warning,
      ).toBe(true);
    const [a, b] = [await metaOf(first), await metaOf(second)];
    for (const key of ["crs_epsg", "crs_wkt", "crs_is_geographic", "gps_time_encoding", "source_scale_m"] as const)
      expect(b[key], key).toEqual(a[key]);
    // Fields that the written point format has no place for become extra dimensions: these have a record now.
    const known = new Set(a.extra_dims_meta.flatMap(({ slug, las_extra }) => (las_extra ? [slug] : [])));
    const dims = b.extra_dims_meta.map(({ las_extra, ...dim }) => (known.has(dim.slug) ? { ...dim, las_extra } : dim));
    expect(sorted(dims), format).toEqual(sorted(a.extra_dims_meta));
    if (a.crs_geotiff && !a.crs_wkt) expect(b.crs_geotiff).toEqual(a.crs_geotiff);
  }
}

const sorted = <T extends { readonly slug: string }>(dims: readonly T[]) =>
  [...dims].sort((a, b) => (a.slug < b.slug ? -1 : 1));

/** What is true of a scan whose echo numbers are half there: the session dropped the constant half. */
const TRUE_WARNINGS = [/^return_number is given without number_of_returns/, /^number_of_returns is given without/];

/** Every column is the same bit for bit, or the export has named it. */
async function keepsOrSays(first: CreateSessionTail, format: string, wishes: object = {}) {
  const { extra_dims_meta } = await metaOf(first);
  const columns = [...extra_dims_meta.map(({ slug }) => slug), "timestamp", "origin_x", "origin_y", "origin_z"];
  const { second, changed, warnings } = await again(first, format, wishes, columns);
  const said = warnings.join(" ");
  for (const line of changed) {
    const [key = ""] = line.split(":");
    if (line.endsWith("only in the second")) continue; // a display intensity made from reflectance
    if (key === "positions") await samePlaces(first, second);
    else if (format === "ply" && (await sameNumbers(key, first, second))) continue;
    else expect(said, line).toContain(key.replace("extra/", "").replace("timestamps", "timestamp"));
  }
  return { changed, said };
}

/** Floats that differ in the bits of NaN or in the sign of zero alone: text has one of each. */
async function sameNumbers(key: string, first: CreateSessionTail, second: CreateSessionTail): Promise<boolean> {
  const [a, b] = await Promise.all(
    [first, second].map(async ({ session_id }) => (await storedColumns(made, session_id)).get(key)),
  );
  const values = ({ dtype, bytes }: StoredColumn) =>
    dtype === "f32"
      ? Float32Array.from({ length: bytes.length / 4 }, (_, i) => bytes.readFloatLE(4 * i))
      : Float64Array.from({ length: bytes.length / 8 }, (_, i) => bytes.readDoubleLE(8 * i));
  if (!a || !b || a.dtype !== b.dtype || !/^f/.test(a.dtype)) return false;
  const [x, y] = [values(a), values(b)];
  return x.length === y.length && x.every((value, i) => value === y[i] || (Number.isNaN(value) && Number.isNaN(y[i])));
}

/** Six decimals of text, twice where a scanner position is added. */
async function samePlaces(first: CreateSessionTail, second: CreateSessionTail) {
  const [a, b] = await Promise.all(
    [first, second].map(async ({ session_id }) => (await storedColumns(made, session_id)).get("positions")?.bytes),
  );
  expect(b?.length).toBe(a?.length);
  for (let at = 0; a && b && at < a.length; at += 8) {
    const [x, y] = [a.readDoubleLE(at), b.readDoubleLE(at)];
    if (Math.abs(x - y) > 1.01e-6 + 4e-16 * Math.abs(x)) expect(y).toBe(x);
  }
}

const UTM = `PROJCS["WGS 84 / UTM zone 33N",GEOGCS["WGS 84",DATUM["WGS_1984",SPHEROID["WGS 84",6378137,298.257223563]],PRIMEM["Greenwich",0],UNIT["degree",0.0174532925199433]],PROJECTION["Transverse_Mercator"],UNIT["metre",1],AUTHORITY["EPSG","32633"]]`;
const VERTICAL = `COMPD_CS["both",${UTM},VERT_CS["heights",VERT_DATUM["sea",2005],UNIT["metre",1],AUTHORITY["EPSG","5773"]]]`;
/** GeoTIFF keys of EPSG:25832 with heights over EPSG:5783. */
const KEYS = [1, 1, 0, 3, 1024, 0, 1, 1, 3072, 0, 1, 25832, 4096, 0, 1, 5783];
const EXTRAS = [
  { name: "amplitude", type: "f32", description: "Echo amplitude [dB]", no_data: -9999 },
  { name: "height above", type: "u16", description: "metres", scale: 0.01, offset: -100, no_data: 65535 },
  { name: "las_count", type: "u8" },
  { name: "classification", type: "u8", description: "of somebody else" },
  { name: "tree", type: "i32", no_data: -1 },
  { name: "fine", type: "f64", scale: 0.1 },
] as const;
const rows = (count: number, more: (i: number) => Partial<LasRow> = () => ({})): LasRow[] =>
  Array.from({ length: count }, (_, i) => ({
    x: 1e7 + 0.01 * ((i * 7919) % 100_003) + 0.003,
    y: -1e7 + 0.01 * i,
    z: ((i * 31) % 977) / 100,
    intensity: 3 + ((i * 17) % 4000),
    return_number: 1 + (i % 3),
    number_of_returns: 1 + (i % 4),
    classification: i % 32,
    gps_time: 3.5e8 + i / 7,
    rgb: [i % 65536, (256 * i) % 65536, 65535],
    extra: {
      amplitude: i % 5 === 0 ? -9999 : i / 3,
      "height above": i % 9 === 0 ? 65535 : (i * 3) % 60_000,
      las_count: i % 256,
      classification: 7,
      tree: (i % 50) - 1,
      fine: i / 11,
    },
    ...more(i),
  }));
const OFFSET = [1e7 + 0.003, -1e7, 0] as const;

describe("generated", () => {
  const las = (name: string, bytes: Buffer, wishes: object = {}) => create(made, made.file(name, bytes), wishes);

  test("extra bytes with scale, offset and no-data, colours, clock, echoes; far from zero", async () => {
    const bytes = lasBytes(rows(3000), { extras: EXTRAS, offset: OFFSET, scale: 0.01, global_encoding: 1 });
    const first = await las("all.las", bytes);
    const { extra_dims_meta, source_offset_m } = await metaOf(first);
    expect(extra_dims_meta.find(({ slug }) => slug === "height_above")).toMatchObject({
      label: "metres",
      las_extra: {
        record: { name: "height above", stored: "u16", scale: 0.01, offset: -100, no_data: "ffff000000000000" },
      },
    });
    expect(source_offset_m).toEqual(OFFSET);
    await keepsEverything(first);
  });

  test("a world shift and a conversion of units", async () => {
    const bytes = lasBytes(rows(500), { extras: EXTRAS, offset: OFFSET, scale: 0.01 });
    const wishes = { world_shift: [1e7, -1e7 - 0.1, 0.7] };
    await keepsEverything(await las("shift.las", bytes, wishes), wishes);
    const feet = await las("feet.las", bytes, { source_units: "ft" });
    const { changed, warnings, second } = await again(feet, "laz");
    expect([changed, warnings]).toEqual([changed.filter((line) => line.startsWith("positions")), []]);
    await samePlaces(feet, second);
  });

  test.each<[string, object, Partial<LasRow>]>([
    ["WKT", { wkt: UTM }, {}],
    ["WKT with heights", { wkt: VERTICAL }, {}],
    ["GeoTIFF keys with heights", { geotiff: KEYS }, {}],
    ["both, the WKT without a code", { wkt: UTM.replace(',AUTHORITY["EPSG","32633"]', ""), geotiff: KEYS }, {}],
    ["WKT and scan angles in whole degrees", { wkt: UTM }, { scan_angle_rank: -30 }],
    ["scan angles in whole degrees", {}, { scan_angle_rank: -30 }],
  ])("coordinate system: %s", async (name, crs, angle) => {
    const cloud = rows(200, (i) => (i % 2 === 0 ? angle : {}));
    const first = await las(`${name}.las`, lasBytes(cloud, { offset: OFFSET, scale: 0.01, ...crs }));
    const { crs_epsg, crs_geotiff } = await metaOf(first);
    expect([crs_epsg !== null, crs_geotiff?.directory.length]).toEqual([
      "wkt" in crs || "geotiff" in crs,
      "geotiff" in crs ? 4 * KEYS.length : undefined,
    ]);
    await keepsEverything(first);
    const laz = readFileSync(join(made.folder, "again.laz")); // scan angles in a field of their own, not in an extra one
    if ("scan_angle_rank" in angle) expect([laz[25], (laz[104] ?? 0) & 63]).toEqual(["wkt" in crs ? 4 : 2, 3]);
  });

  test("an EPSG code without WKT, and classes of the newer formats: both are kept, and the compromise is reported", async () => {
    const table = ["x y z las_classification", "1 2 3 200", "4 5 6 1"].join("\n");
    const first = await create(made, made.file("code.txt", table));
    const session = await made.deps.sessions.get(first.session_id);
    await session.commit(session.state, { meta: { crs_epsg: 2154 } });
    for (const format of ["las", "laz"]) {
      const { second, warnings } = await again(first, format);
      expect((await metaOf(second)).crs_epsg).toBe(2154);
      expect(warnings).toEqual([expect.stringMatching(/EPSG:2154 is in the file as GeoTIFF keys.*WKT/)]);
    }
  });

  test("a renamed column is written with its new name and its record", async () => {
    const first = await las("names.las", lasBytes(rows(10), { extras: EXTRAS, offset: OFFSET }));
    const session = await made.deps.sessions.get(first.session_id);
    const extra_dims_meta = session.state.meta.extra_dims_meta.map((dim) =>
      dim.slug === "height_above" ? { ...dim, label: "Height" } : dim,
    );
    await session.commit(session.state, { meta: { extra_dims_meta } });
    const { second, changed } = await again(first, "laz");
    expect(changed).toEqual([]);
    const found = (await metaOf(second)).extra_dims_meta.find(({ slug }) => slug === "height_above");
    expect(found).toMatchObject({ label: "Height", las_extra: { record: { description: "Height", scale: 0.01 } } });
  });

  test("a session journaled without the newer fields can be exported", async () => {
    const first = await las("old.las", lasBytes(rows(10), { extras: EXTRAS, offset: OFFSET }));
    const session = await made.deps.sessions.get(first.session_id);
    const { extra_dims_meta, source_offset_m, crs_geotiff, scan_origins, ...old } = session.state.meta;
    const dims = extra_dims_meta.map(({ slug, label }) => ({ slug, label }));
    const before = { columns: session.state.columns, meta: { ...old, extra_dims_meta: dims } };
    await session.commit(session.state, { meta: { ...before.meta, source_offset_m: null, crs_geotiff: null } });
    const { changed } = await again(first, "laz");
    expect(changed.filter((line) => !line.startsWith("positions"))).toEqual([]);
    expect([source_offset_m, crs_geotiff, scan_origins]).toEqual([OFFSET, undefined, undefined]);
  });

  test.each(["pcd", "ply"])("%s: every column is bit-identical, or named as left out", async (format) => {
    const first = await las(`${format}.las`, lasBytes(rows(2000), { extras: EXTRAS, offset: OFFSET, scale: 0.01 }));
    const { changed, said } = await keepsOrSays(first, format);
    if (format === "pcd") expect(changed).toEqual(["colors: other values"]);
    if (format === "ply") {
      expect(changed.map((line) => line.split(":")[0])).toEqual(
        expect.arrayContaining(["positions", "colors", "intensity", "timestamps", "extra/amplitude", "extra/fine"]),
      );
      expect(changed.map((line) => line.split(":")[0])).not.toContain("extra/tree");
      expect(said).toMatch(/Left out: intensity/);
    }
  });

  test("zero points are refused; a single point and equal points survive", async () => {
    const one = await las("one.las", lasBytes(rows(1), { offset: OFFSET, scale: 0.01 }));
    await keepsEverything(one);
    const none = await las("none.las", lasBytes([]));
    const tail = await exportTail(made, { source: { session_id: none.session_id }, format: "laz" });
    expect(tail).toMatchObject({ success: false, error: "No points provided", code: "invalid_argument" });
  });
});

describe.skipIf(!present)("real scans", () => {
  const under = (folder: string, pattern: RegExp): string[] =>
    readdirSync(join(DATA, folder), { withFileTypes: true }).flatMap((entry) => {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) return entry.name === "malformed" ? [] : under(path, pattern);
      return pattern.test(entry.name) ? [path] : [];
    });
  const files = present
    ? ["als", "trees_tls", "las", "trees_als_idtrees"]
        .flatMap((folder) => under(folder, /\.(las|laz)$/i))
        .filter(isQuick)
    : [];

  test("the list has as many scans as the folders", () => expect(files.length).toBeGreaterThanOrEqual(50));

  test.each(files)("%s", async (path) => {
    const first = await create(made, join(DATA, path));
    await keepsEverything(first);
    if (statSync(join(DATA, path)).size > 500_000) return;
    for (const format of ["pcd", "ply"]) await keepsOrSays(first, format);
  });

  test.each(present ? under("ptx_pts", /\.ptx$/) : [])("%s", async (path) => {
    const first = await create(made, join(DATA, path));
    const { changed } = await keepsOrSays(first, "ptx");
    expect(changed.filter((line) => !line.startsWith("positions"))).toEqual([]);
  });
});
