// Save and open of a project in the running service, and its size beside zlib's.
import { closeSync, fsyncSync, openSync, rmSync, statSync, writeSync } from "node:fs";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { deflateRawSync } from "node:zlib";
import { type Entry, open, type ZipFile } from "yauzl";
import { decodeColumn } from "../../shared/wire/zcol.ts";
import { dataFolder } from "./folders.ts";
import { SCALARS, scannedPly } from "./scanned-ply.ts";
import { type Service, withService } from "./service.ts";
import { used } from "./service-jobs.ts";
import { drained } from "./session-caller.ts";
import { now } from "./stage-clock.ts";

const MIB = 2 ** 20;
const BLOCK = 8 * MIB;

type Filter = "none" | "shuffle" | "delta_shuffle";
const FILTERS: readonly Filter[] = ["none", "shuffle", "delta_shuffle"];

/** The bytes of a block in the order of a filter; written again, from the format's description. */
function filtered(block: Uint8Array, size: number, width: number, filter: Filter): Uint8Array {
  if (filter === "none") return block;
  const values = block.length / size;
  const out = new Uint8Array(block.length);
  for (let i = 0; i < values; i += 1) {
    let borrow = 0;
    for (let k = 0; k < size; k += 1) {
      let byte = block[i * size + k] ?? 0;
      if (filter === "delta_shuffle" && i >= width) {
        byte -= (block[(i - width) * size + k] ?? 0) + borrow;
        borrow = byte < 0 ? 1 : 0;
      }
      out[k * values + i] = byte & 255;
    }
  }
  return out;
}

/** Size of a column with zlib's level 1 and its best filter, blocks as in the archive. */
function zlibBytes(bytes: Uint8Array, size: number, width: number): number {
  const row = size * width;
  const step = Math.floor(BLOCK / row) * row;
  const sizes = FILTERS.map((filter) => {
    let sum = 0;
    for (let at = 0; at < bytes.length; at += step)
      sum += deflateRawSync(filtered(bytes.subarray(at, at + step), size, width, filter), { level: 1 }).length;
    return sum;
  });
  return Math.min(...sizes);
}

const opened = (path: string) =>
  new Promise<ZipFile>((resolve, reject) =>
    open(path, { lazyEntries: true, autoClose: false }, (error, zip) => (error ? reject(error) : resolve(zip))),
  );
const entriesOf = (zip: ZipFile) =>
  new Promise<Entry[]>((resolve, reject) => {
    const entries: Entry[] = [];
    zip.on("error", reject);
    zip.on("end", () => resolve(entries));
    zip.on("entry", (entry: Entry) => {
      entries.push(entry);
      zip.readEntry();
    });
    zip.readEntry();
  });
const bytesOf = (zip: ZipFile, entry: Entry) =>
  new Promise<Buffer>((resolve, reject) =>
    zip.openReadStream(entry, (error, stream) => (error ? reject(error) : buffer(stream).then(resolve, reject))),
  );

/** Raw size of the columns in a project, their size in it, and with `zlib`, their size by that. */
async function columnSizes(path: string, zlib: boolean) {
  const zip = await opened(path);
  try {
    const sum = { raw: 0, packed: 0, zlib: 0, columns: 0 };
    for (const entry of (await entriesOf(zip)).filter(({ fileName }) => fileName.endsWith(".pz"))) {
      const { values, shape } = await decodeColumn(await bytesOf(zip, entry));
      sum.raw += values.byteLength;
      sum.packed += entry.compressedSize;
      sum.columns += 1;
      const bytes = new Uint8Array(values.buffer, values.byteOffset, values.byteLength);
      if (zlib) sum.zlib += zlibBytes(bytes, values.BYTES_PER_ELEMENT, shape[1] ?? 1);
    }
    return sum;
  } finally {
    zip.close();
  }
}

/** MB/s with which the disk takes a file of the size, flushed. */
function diskRate(bytes: number): number {
  const path = join(dataFolder, "disk-rate");
  const block = new Uint8Array(BLOCK).map((_, i) => (i * 2654435761) >>> 24);
  const started = now();
  const file = openSync(path, "w");
  try {
    for (let at = 0; at < bytes; at += BLOCK) writeSync(file, block);
    fsyncSync(file);
  } finally {
    closeSync(file);
    rmSync(path, { force: true });
  }
  return bytes / 1e6 / (now() - started);
}

async function created(service: Service, count: number): Promise<string> {
  const { session_id, attributes } = await service.client.createSession({ source_path: scannedPly(count) });
  const names = attributes.map(({ name }) => name);
  const missing = Object.keys(SCALARS).filter((name) => !names.includes(name));
  if (missing.length > 0) throw new Error(`the session lacks ${missing.join(", ")}; it has ${names.join(", ")}`);
  return session_id;
}

interface ProjectFigures {
  readonly count: number;
  readonly columns: number;
  /** Of the columns, and of their files in the archive. */
  readonly raw_mib: number;
  readonly packed_mib: number;
  readonly save_s: number;
  readonly save_cpu_s: number;
  /** Anonymous memory that it adds at most. */
  readonly save_memory_mib: number;
  readonly save_mb_s: number;
  readonly open_s: number;
  readonly open_cpu_s: number;
  readonly open_memory_mib: number;
  readonly open_mb_s: number;
  readonly disk_mb_s: number;
}

/** Save and open of a session with eight scalar columns, `runs` times each. */
export function project(count: number, runs: number) {
  return withService(async (service) => {
    const { client } = service;
    const session_id = await created(service, count);
    const path = join(dataFolder, `project-${service.pid}.proj`);
    const samples: ProjectFigures[] = [];
    try {
      for (let i = 0; i < runs; i += 1) {
        await drained(service);
        const { token: scene_token } = await client.stageScene(new TextEncoder().encode("PSC1 bench"));
        const save = await used(service, () => client.saveProject({ path, scene_token, session_ids: [session_id] }));
        await drained(service);
        const reopen = await used(service, () => client.openProject({ path }));
        await client.closeSession(Object.values(reopen.session_map)[0] ?? "");
        const { raw, packed, columns } = await columnSizes(path, false);
        const disk = diskRate(Math.min(raw, statSync(path).size));
        samples.push({
          count,
          columns,
          raw_mib: raw / MIB,
          packed_mib: packed / MIB,
          save_s: save.wall_s,
          save_cpu_s: save.cpu_s,
          save_memory_mib: save.anon_growth_mib,
          save_mb_s: raw / 1e6 / save.wall_s,
          open_s: reopen.wall_s,
          open_cpu_s: reopen.cpu_s,
          open_memory_mib: reopen.anon_growth_mib,
          open_mb_s: raw / 1e6 / reopen.wall_s,
          disk_mb_s: disk,
        });
      }
    } finally {
      rmSync(path, { force: true });
    }
    return samples;
  });
}

/** Size of the columns in a project beside zlib's. */
export function projectSize(count: number) {
  return withService(async (service) => {
    const { client } = service;
    const session_id = await created(service, count);
    const path = join(dataFolder, `project-${service.pid}.proj`);
    try {
      const { token: scene_token } = await client.stageScene(new TextEncoder().encode("PSC1 bench"));
      await client.saveProject({ path, scene_token, session_ids: [session_id] });
      const { raw, packed, zlib, columns } = await columnSizes(path, true);
      return { count, columns, raw_mib: raw / MIB, packed_mib: packed / MIB, zlib_mib: zlib / MIB };
    } finally {
      rmSync(path, { force: true });
    }
  });
}
