import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { addon } from "../../backend/native/core/addon.ts";
import { columnBlocks, columnHeader } from "../../backend/native/files/archive.ts";
import { Archive } from "../../backend/services/projects/archive-read.ts";
import { MANIFEST } from "../../backend/services/projects/manifest.ts";
import { OpenProjectTail } from "../../shared/contract/project.ts";
import { run } from "../support/app/app.ts";
import { contentsOf, opened, SCENE, saved, sceneOf } from "../support/project/project.ts";
import { box, richRows } from "../support/project/rich-session.ts";
import { octreeIds, worldOf } from "../support/project/world.ts";
import { zipOf } from "../support/project/zip.ts";
import { cloud, failed, stateOf } from "../support/session/session-edits.ts";
import { sessionTest } from "../support/session/session-test.ts";

const made = sessionTest();
const ZIP_DATA = resolve(process.env.APP_TEST_DATA ?? "../shared/data", "zip");
const ARCHIVES = existsSync(ZIP_DATA) ? readdirSync(ZIP_DATA) : [];
if (ARCHIVES.length === 0) console.log("projects: the archives of shared/data/zip are skipped, they are not there");
/** Every byte of the small project instead of sixty; how many of the larger one. `npm run fuzz projects` raises both. */
const EVERY_BYTE = process.env.APP_TEST_PROJECT_BYTES === "all";
const FLIPS = Number(process.env.APP_TEST_PROJECT_FLIPS ?? 12);
const SEED = Number(process.env.APP_TEST_SEED ?? 19);
const at = (name: string) => join(made.folder, name);

describe("a damaged project", () => {
  /** Flips one bit at each position: the open is refused and leaves nothing, or brings the same. */
  async function flipped(points: number, positionsOf: (length: number) => readonly number[]) {
    const { session_id } = await cloud(made, richRows(points));
    await made.post(session_id, "delete_region", { region: box(0, 0.2) });
    const path = at("flip.proj");
    await saved(made, path, [session_id]);
    const bytes = readFileSync(path);
    const wanted = contentsOf(await stateOf(made, session_id));
    const forget = async (id: string) => {
      await made.app.inject({ method: "DELETE", url: `/api/cloud/session/${id}` });
      for (const octree of octreeIds(made)) rmSync(join(made.octrees, octree), { recursive: true }); // so that opens unpack theirs
    };
    await forget(session_id);
    const before = worldOf(made);
    const count = { refused: 0, same: 0 };
    for (const position of positionsOf(bytes.length)) {
      made.log.length = 0;
      const damaged = Buffer.from(bytes);
      damaged[position] = (damaged[position] ?? 0) ^ (1 << (position % 8));
      writeFileSync(path, damaged);
      const { outcome } = await run(made, "/api/project/open", { path });
      if (outcome.kind === "failed") {
        expect(outcome.error, `byte ${position}`).toMatch(/project/i);
        expect(worldOf(made), `byte ${position}`).toEqual(before);
        count.refused += 1;
        continue;
      }
      if (outcome.kind !== "json") throw new Error(`byte ${position}: ${outcome.kind}`);
      const back = OpenProjectTail.parse(outcome.value);
      expect(Object.keys(back.session_map), `byte ${position}`).toEqual([session_id]);
      const id = back.session_map[session_id] as string;
      expect(contentsOf(await stateOf(made, id)), `byte ${position}`).toEqual(wanted);
      expect(await sceneOf(made, back.scene_token)).toEqual(SCENE);
      await forget(id);
      count.same += 1;
    }
    return count;
  }

  test("one flipped byte: refused with the member's name, or everything is the same", {
    timeout: 1_800_000,
  }, async () => {
    const { refused, same } = await flipped(60, (length) => {
      const step = EVERY_BYTE ? 1 : Math.max(1, Math.floor(length / 60));
      return Array.from({ length: Math.ceil(length / step) }, (_, i) => i * step);
    });
    expect(refused).toBeGreaterThan(25);
    expect(same).toBeGreaterThan(0); // times and local headers mean nothing here
  });

  test(`${FLIPS} flipped bytes of a larger project`, { timeout: 60_000 + FLIPS * 1000 }, async () => {
    const { refused, same } = await flipped(20_000, (length) =>
      fc.sample(fc.noBias(fc.nat(length - 1)), { numRuns: FLIPS, seed: SEED }),
    );
    console.log(`projects: ${FLIPS} flipped bytes (seed ${SEED}), ${refused} refused, ${same} without a meaning`);
    expect(refused).toBeGreaterThan(0.8 * FLIPS); // most bytes are those of columns and octrees
  });

  test("a flipped byte in what the service copies unread is refused by its CRC-32", async () => {
    const { session_id } = await cloud(made, richRows(200));
    await made.post(session_id, "delete_region", { region: box(0, 1) });
    const path = at("crc.proj");
    await saved(made, path, [session_id]);
    await made.app.inject({ method: "DELETE", url: `/api/cloud/session/${session_id}` });
    const archive = await Archive.open(path);
    const name = archive.names().find((member) => member.endsWith("/octree.bin")) ?? "";
    const { offset, bytes: length } = await archive.range(name);
    archive.close();
    const bytes = readFileSync(path);
    bytes[offset + (length >> 1)] = (bytes[offset + (length >> 1)] ?? 0) ^ 1;
    writeFileSync(path, bytes);
    const before = worldOf(made);
    expect((await failed(made, "/api/project/open", { path })).error).toContain(`the CRC-32 of ${name} differs`);
    expect(worldOf(made)).toEqual(before);
  });

  test("every cut is refused", async () => {
    const { session_id } = await cloud(made, richRows(60));
    const path = at("cut.proj");
    await saved(made, path, [session_id]);
    const bytes = readFileSync(path);
    const before = worldOf(made);
    for (let i = 0; i < 25; i += 1) {
      writeFileSync(path, bytes.subarray(0, Math.floor((bytes.length * i) / 25)));
      expect((await failed(made, "/api/project/open", { path })).error).toMatch(/project/i);
    }
    expect(worldOf(made)).toEqual(before);
  });
});

const MANIFEST_OF = (more: object = {}) => ({
  format: "scene-project",
  version: 2,
  app_version: "9.8.7",
  created: "2030-01-01T00:00:00Z",
  members: ["scene.bin"],
  sessions: [],
  octrees: [],
  regenerate: [],
  ...more,
});

describe("a project that somebody else wrote", () => {
  const error = async (members: Readonly<Record<string, Uint8Array | object>>) => {
    const path = await zipOf(at("foreign.proj"), members);
    const before = worldOf(made);
    const { error: text } = await failed(made, "/api/project/open", { path });
    expect(worldOf(made)).toEqual(before);
    return text;
  };
  const scene = { "scene.bin": SCENE };

  test("is refused with a sentence that names what is wrong", async () => {
    const of = (more: object, rest: Readonly<Record<string, Uint8Array | object>> = scene) =>
      error({ [MANIFEST]: MANIFEST_OF(more), ...rest });
    expect(await of({ version: 3 })).toMatch(/version 3.*up to 2.*9\.8\.7/);
    expect(await of({ format: "other" })).toMatch(/unknown format "other".*9\.8\.7/);
    expect(await of({ version: "2" })).toMatch(/manifest\.json: version .*9\.8\.7/);
    expect(await of({ members: ["scene.bin", "sessions/a/positions.pz"] })).toMatch(/positions\.pz is missing/);
    expect(await of({ members: ["../../etc/passwd"] })).toMatch(/no name of a member/);
    expect(await of({ members: ["a//b"] })).toMatch(/no name of a member/);
    expect(await of({ sessions: [{ key: "..", n: 1 }] })).toMatch(/sessions\.0\.key/);
    expect(await of({ sessions: [{ key: "a/b", n: 1 }] })).toMatch(/sessions\.0\.key/);
    expect(await of({ sessions: [{ key: "a", n: -1 }] })).toMatch(/sessions\.0\.n/);
    expect(
      await of({
        sessions: [
          { key: "a", n: 1 },
          { key: "a", n: 1 },
        ],
      }),
    ).toMatch(/session a is there twice/);
    expect(await of({ octrees: ["../cache"] })).toMatch(/octrees\.0 is no id/);
    expect(await of({ octrees: ["0".repeat(40)] })).toMatch(/octrees\/0+\/metadata\.json is missing/);
    expect(await of({ sessions: [{ key: "a", n: 1 }] })).toMatch(/sessions\/a\/session\.json is missing/);
    expect(await of({ members: [] }, {})).toMatch(/scene\.bin is missing/);
    expect(await error({ "other.json": {} })).toMatch(/no project/);
    expect(await error({ [MANIFEST]: Buffer.from("{") })).toMatch(/manifest\.json is not JSON/);
  });

  test("that would fill the disk is refused before it is unpacked", async () => {
    const id = "0".repeat(40);
    const blank = { text: " ".repeat(260 * 2 ** 20) };
    const of = (members: Readonly<Record<string, Uint8Array | object>>, more: object = {}) =>
      error({ [MANIFEST]: MANIFEST_OF(more), ...members });
    expect(await of({ "scene.bin": blank })).toMatch(/scene\.bin would unpack to/);
    const octree = (name: string) => ({ ...scene, [`octrees/${id}/${name}`]: blank });
    expect(await of(octree("metadata.json"), { octrees: [id] })).toMatch(/metadata\.json is larger than/);
  });

  test("whose members share bytes is refused", async () => {
    const inner = readFileSync(await zipOf(at("inner.zip"), { "inner.bin": SCENE }));
    const local = inner.subarray(0, inner.indexOf("PK\x01\x02"));
    const members = { "outer.bin": Buffer.concat([Buffer.alloc(64), local]), "inner.bin": SCENE };
    const path = await zipOf(at("shared.zip"), members);
    const bytes = readFileSync(path);
    const entry = bytes.lastIndexOf("PK\x01\x02");
    expect(bytes.toString("latin1", entry + 46, entry + 55)).toBe("inner.bin");
    const embedded = bytes.indexOf(local); // a whole member inside the bytes of the other
    expect(embedded).toBe(30 + "outer.bin".length + 64);
    (await Archive.open(path)).close();
    const lastOfOuter = embedded + local.length - 1;
    for (const place of [embedded, lastOfOuter]) {
      bytes.writeUInt32LE(place, entry + 42);
      writeFileSync(path, bytes);
      await expect(Archive.open(path)).rejects.toMatchObject({
        code: "invalid_file",
        message: expect.stringContaining("inner.bin shares bytes with another member"),
      });
    }
  });

  test("with a description that does not fit is refused", async () => {
    const file = { key: "a", n: 1, arrays: ["positions"], extras: [], world_shift: null, scalars: {} };
    const of = (more: object) =>
      error({
        [MANIFEST]: MANIFEST_OF({ sessions: [{ key: "a", n: 1 }] }),
        ...scene,
        "sessions/a/session.json": { ...file, ...more },
        "sessions/a/positions.pz": Buffer.from("ZCOL\x01\nxxxx"),
      });
    expect(await of({})).toMatch(/sessions\/a\/positions\.pz: damaged column/);
    expect(await of({ n: 2 })).toMatch(/not that of session a with 1 rows/);
    expect(await of({ arrays: ["positions", "smell"] })).toMatch(/session\.json: arrays\.1/);
    expect(await of({ arrays: [] })).toMatch(/its columns/);
    expect(await of({ scalars: { warp: 1 } })).toMatch(/session\.json: scalars/);
    expect(await of({ scalars: { octree_pose: [1] } })).toMatch(/scalars\.octree_pose/);
    expect(await of({ extras: [{ slug: "x", member: "x0" }] })).toMatch(/extra columns/);
    expect(await of({ label_history: { x: [] } })).toMatch(/damaged/);
    expect(await of({ backfilled_misses: ["smell"] })).toMatch(/backfilled_misses/);
    expect(await of({ deleted_history: 4e15 })).toMatch(/session\.json: more deletions than the archive has members/);
    expect(await of({ deleted_history: 2 })).toMatch(/damaged/);
  });

  test("of version 1 opens: arrays of NumPy", async () => {
    const npy = (descr: string, shape: string, values: Uint8Array) => {
      const header = Buffer.from(`{'descr': '${descr}', 'fortran_order': False, 'shape': ${shape}, }\n`);
      return Buffer.concat([
        Buffer.from("\x93NUMPY\x01\x00", "latin1"),
        Buffer.from([header.length, 0]),
        header,
        values,
      ]);
    };
    const path = await zipOf(at("one.proj"), {
      [MANIFEST]: { format: "scene-project", version: 1, app_version: "0.1", sessions: [{ key: "old", n: 2 }] },
      ...scene,
      "sessions/old/session.json": {
        key: "old",
        n: 2,
        arrays: ["positions", "deleted"],
        extras: [
          { slug: "class", member: "x0" },
          { slug: "frac", member: "x1" },
          { slug: "nz", member: "x2" },
        ],
        world_shift: [1, 2, 3],
        deleted_history: 1,
        label_history: {},
        scalars: { extra_dims_meta: ["class", "frac", "nz"].map((slug) => ({ slug, label: slug })) },
      },
      "sessions/old/positions.npy": npy("<f8", "(2, 3)", new Uint8Array(new Float64Array([1, 2, 3, 4, 5, 6]).buffer)),
      "sessions/old/deleted.npy": npy("|b1", "(2,)", Uint8Array.of(0, 1)),
      "sessions/old/x0.npy": npy("<f4", "(2,)", new Uint8Array(new Float32Array([7, 9]).buffer)),
      "sessions/old/x1.npy": npy("<f4", "(2,)", new Uint8Array(new Float32Array([0.5, 9]).buffer)),
      "sessions/old/x2.npy": npy("<f4", "(2,)", new Uint8Array(new Float32Array([0, 1]).buffer)),
      "sessions/old/history/del0.npy": npy("<i8", "(1,)", new Uint8Array(new BigInt64Array([1n]).buffer)),
    });
    const { session_map, app_version } = await opened(made, path);
    expect(app_version).toBe("0.1");
    const id = session_map.old as string;
    const { columns, undo, meta } = await stateOf(made, id);
    const types = Object.fromEntries([...columns].map(([key, column]) => [key, column.native.dtype]));
    expect(types).toEqual({
      positions: "vec3d",
      deleted: "u8",
      "extra/class": "u8", // whole numbers
      "extra/frac": "f32",
      "extra/nz": "f32", // a quantity that is continuous
    });
    expect([undo.deletes.length, meta.world_shift, meta.octree_cache_id]).toEqual([1, [1, 2, 3], null]);
    expect((await made.post(id, "reset_edits", { edit_count: 0 })).statusCode).toBe(200);
  });

  test("whose mask is not what its deletions say is refused", async () => {
    const { session_id } = await cloud(made, richRows(40));
    await made.post(session_id, "delete_region", { region: box(0, 0.1) });
    const path = at("mask.proj");
    await saved(made, path, [session_id]);
    const archive = await Archive.open(path);
    const members: Record<string, Uint8Array | object> = {};
    for (const name of archive.names()) {
      const parts: Buffer[] = [];
      for await (const chunk of archive.chunks(name)) parts.push(chunk);
      members[name] = name.endsWith(".json")
        ? (JSON.parse(Buffer.concat(parts).toString()) as object)
        : Buffer.concat(parts);
    }
    archive.close();
    const column = new addon.Column("u8", new Uint8Array(40).fill(1, 0, 3));
    const { bytes, blocks } = columnHeader(column, "none", true);
    const packed = await columnBlocks(column, "none", 0, blocks).promise;
    const body = Buffer.alloc(packed.bytes);
    packed.readInto(body, 0);
    packed.release();
    column.release();
    members[`sessions/${session_id}/deleted.pz`] = Buffer.concat([bytes, body]);
    expect(await error(members)).toMatch(/deleted is not what its history says/);
  });

  test.each(ARCHIVES)("%s is refused, or has no manifest", async (name) => {
    const path = join(ZIP_DATA, name);
    const before = worldOf(made);
    expect((await failed(made, "/api/project/open", { path })).error).toMatch(/project/i);
    expect(worldOf(made)).toEqual(before);
  });
});
