import { createWriteStream } from "node:fs";
import { mkdir, open, readdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { pipeline } from "node:stream/promises";
import { AppError } from "../../../shared/errors.ts";
import { remove } from "../../file-moves.ts";
import { fromNative } from "../../jobs/native-error.ts";
import type { DType, NativeColumn } from "../../native/core/handles.ts";
import { readArray, verifyArray } from "../../native/files/archive.ts";
import { Archive, damagedMember } from "./archive-read.ts";
import { MANIFEST, type Manifest, readManifest, SCENE } from "./manifest.ts";
import { OCTREE_MEMBERS, octreeMember } from "./octrees.ts";
import { arrayMember } from "./restore-column.ts";
import { memberNames, readSessionFile } from "./restore-session.ts";
import type { SessionFile } from "./session-file.ts";
import { sessionFolder } from "./session-members.ts";

/** What a project contains, for people. */
export interface ProjectSummary {
  readonly version: number;
  readonly app_version: string;
  readonly created: string;
  readonly scene_bytes: number;
  readonly sessions: readonly {
    readonly key: string;
    readonly source: string | null;
    readonly rows: number;
    readonly columns: readonly string[];
    readonly deletions: number;
    readonly strokes: number;
  }[];
  readonly octrees: readonly string[];
  readonly regenerate: readonly string[];
}

interface Contents {
  readonly archive: Archive;
  readonly manifest: Manifest;
  readonly files: readonly SessionFile[];
}

async function withProject<T>(path: string, body: (contents: Contents) => Promise<T>): Promise<T> {
  const archive = await Archive.open(path);
  try {
    const manifest = await readManifest(archive);
    const files: SessionFile[] = [];
    for (const session of manifest.sessions) files.push(await readSessionFile(archive, session));
    return await body({ archive, manifest, files });
  } finally {
    archive.close();
  }
}

/** Reads the descriptions in a project. Errors: those of readManifest and readSessionFile. */
export const projectSummary = (path: string): Promise<ProjectSummary> =>
  withProject(path, async ({ archive, manifest, files }) => ({
    version: manifest.version,
    app_version: manifest.app_version,
    created: manifest.created,
    scene_bytes: archive.bytesOf(SCENE),
    sessions: files.map(({ key, n, arrays, extras, deleted_history, label_history, scalars }) => ({
      key,
      source: scalars.source_path,
      rows: n,
      columns: [...arrays, ...extras.map(({ slug }) => slug)],
      deletions: deleted_history,
      strokes: Object.values(label_history).flat().length,
    })),
    octrees: manifest.octrees,
    regenerate: manifest.regenerate,
  }));

/** A member that a project of this manifest has. `rows`: of an array; null = any number. */
interface Known {
  readonly name: string;
  readonly array: { readonly rows: number | null } | undefined;
}

function knownMembers({ archive, manifest, files }: Contents): Known[] {
  const plain = (name: string): Known => ({ name, array: undefined });
  const arrays = files.flatMap((file) =>
    memberNames(file).map(
      (name): Known => ({ name, array: { rows: /\/(history|misses)\//.test(name) ? null : file.n } }),
    ),
  );
  const octrees = manifest.octrees.flatMap((id) =>
    OCTREE_MEMBERS.map((file) => octreeMember(id, file)).filter(
      (name) => archive.has(name) || !name.endsWith("attribute_labels.json"),
    ),
  );
  return [plain(SCENE), ...arrays, ...octrees.map(plain)];
}

/** Reads every byte of a project. Returns the number of members. Errors: invalid_file, with the first damaged member. */
export const verifyProject = (path: string, signal: AbortSignal): Promise<number> =>
  withProject(path, async (contents) => {
    const { archive, manifest, files } = contents;
    const known = knownMembers(contents);
    for (const { name, array } of known) {
      signal.throwIfAborted();
      if (!array) {
        for await (const _ of archive.chunks(name)) signal.throwIfAborted();
        continue;
      }
      const [form, range] = await arrayMember(archive, name, manifest.version);
      await verifyArray(range, form, array.rows).promise.catch((error: unknown) => {
        throw damagedMember(`${name}.${form}`, fromNative(error));
      });
    }
    return known.length + files.length + 1;
  });

/**
 * Writes the contents of a project into a new or empty folder: columns as arrays of NumPy, everything else as it is. A
 * failure or an interruption leaves nothing.
 * Returns the number of files. Errors: conflict for a folder with files; invalid_file; those of the disk.
 */
export const extractProject = (path: string, folder: string, signal: AbortSignal): Promise<number> =>
  withProject(path, async (contents) => {
    const { archive, manifest, files } = contents;
    const first = await mkdir(folder, { recursive: true });
    if ((await readdir(folder)).length > 0) throw new AppError("conflict", `the folder "${folder}" is not empty`);
    const copies: Known[] = [MANIFEST, ...files.map(({ key }) => `${sessionFolder(key)}/session.json`)].map((name) => ({
      name,
      array: undefined,
    }));
    const all = [...copies, ...knownMembers(contents)];
    try {
      for (const { name, array } of all) {
        signal.throwIfAborted();
        const to = join(folder, ...name.split("/")); // parts of names were checked
        await mkdir(dirname(to), { recursive: true });
        if (array) await extractArray(archive, name, { to: `${to}.npy`, rows: array.rows, version: manifest.version });
        else await pipeline(archive.chunks(name), createWriteStream(to, { flags: "wx" }), { signal });
      }
    } catch (error) {
      for (const name of await readdir(folder)) await remove(join(folder, name));
      if (first !== undefined) await remove(first);
      throw error;
    }
    return all.length;
  });

interface Extracted {
  readonly to: string;
  readonly rows: number | null;
  readonly version: number;
}

async function extractArray(archive: Archive, name: string, { to, rows, version }: Extracted): Promise<void> {
  const [form, range] = await arrayMember(archive, name, version);
  const column = await readArray(range, form, rows).promise.catch((error: unknown) => {
    throw damagedMember(`${name}.${form}`, fromNative(error));
  });
  try {
    await writeNpy(column, to);
  } finally {
    column.release();
  }
}

const DESCR: Readonly<Record<DType, string>> = {
  u8: "|u1",
  i8: "|i1",
  u16: "<u2",
  i16: "<i2",
  u32: "<u4",
  i32: "<i4",
  u64: "<u8",
  i64: "<i8",
  f32: "<f4",
  f64: "<f8",
  vec3d: "<f8",
  rgb16: "<u2",
};

/** Writes a column in NumPy's format, version 1 (NEP 1): the header ends at a multiple of 64 bytes. */
async function writeNpy(column: NativeColumn, path: string): Promise<void> {
  const triple = column.dtype === "vec3d" || column.dtype === "rgb16";
  const shape = triple ? `(${column.length}, 3)` : `(${column.length},)`;
  const text = `{'descr': '${DESCR[column.dtype]}', 'fortran_order': False, 'shape': ${shape}, }`;
  const length = Math.ceil((10 + text.length + 1) / 64) * 64 - 10;
  const head = Buffer.alloc(10 + length, " ", "latin1");
  head.write("\x93NUMPY\x01\x00", 0, "latin1");
  head.writeUInt16LE(length, 8);
  head.write(text, 10, "latin1");
  head[head.length - 1] = 0x0a;
  const file = await open(path, "wx");
  try {
    await file.write(head);
    const block = Buffer.allocUnsafe(1 << 20);
    for (let at = 0; at < column.bytes; ) {
      const count = column.readInto(block, at);
      await file.write(block, 0, count);
      at += count;
    }
  } finally {
    await file.close();
  }
}
