import { stat } from "node:fs/promises";
import type { Readable } from "node:stream";
import { crc32 } from "node:zlib";
import { type Entry, open, type ZipFile } from "yauzl";
import { AppError } from "../../../shared/errors.ts";
import { MAX_PROJECT_MEMBERS, MIB } from "../../../shared/limits.ts";
import type { MemberRange } from "../../native/files/archive.ts";

const STORED = 0;
const DEFLATED = 8;
/** Fixed part of a local header. */
const LOCAL_HEADER = 30;

/** No scene of the size is packed that well, and octrees are not packed at all; a member up to this size may be. */
const MAX_RATIO = 200;
const MAX_UNDOUBTED_BYTES = 256 * MIB;

/** The error of an archive that is damaged or hostile. */
export const damagedProject = (why: string, cause?: unknown): AppError =>
  new AppError("invalid_file", `The project is damaged: ${why}`, undefined, { cause });

/**
 * A ZIP archive by the names of its members. Members are read by name only. The reader of the package checks lengths; the
 * CRC-32 is compared here, for every member that is read.
 */
export class Archive {
  readonly #zip: ZipFile;
  readonly #entries: ReadonlyMap<string, Entry>;
  /** Of the file when it was opened. */
  readonly #identity: string;

  private constructor(
    readonly path: string,
    identity: string,
    zip: ZipFile,
    entries: ReadonlyMap<string, Entry>,
  ) {
    this.#identity = identity;
    this.#zip = zip;
    this.#entries = entries;
  }

  /** Errors: invalid_file for what is no archive, two members of one name or in one place, encrypted ones; not_found. */
  static async open(path: string): Promise<Archive> {
    const identity = await identityOf(path);
    const zip = await opened(path);
    try {
      return new Archive(path, identity, zip, await entriesOf(zip));
    } catch (error) {
      zip.close();
      throw error;
    }
  }

  close(): void {
    this.#zip.close();
  }
  /** Whether another file has the path now: ranges of members say nothing of that one. */
  async isReplaced(): Promise<boolean> {
    return (await identityOf(this.path).catch(() => "")) !== this.#identity;
  }
  has(name: string): boolean {
    return this.#entries.has(name);
  }
  /** Number of members. */
  get size(): number {
    return this.#entries.size;
  }
  names(): string[] {
    return [...this.#entries.keys()];
  }
  /** Length of a member, unpacked, bytes. Errors: invalid_file if it is missing. */
  bytesOf(name: string): number {
    return this.#entry(name).uncompressedSize;
  }

  #entry(name: string): Entry {
    const entry = this.#entries.get(name);
    if (!entry) throw damagedProject(`${name} is missing`);
    return entry;
  }

  /** A member of at most `most` bytes as JSON. */
  async json(name: string, most: number): Promise<unknown> {
    if (this.bytesOf(name) > most) throw damagedProject(`${name} is larger than ${most} bytes`);
    const chunks: Buffer[] = [];
    for await (const chunk of this.chunks(name)) chunks.push(chunk);
    try {
      return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(Buffer.concat(chunks))) as unknown;
    } catch (cause) {
      throw damagedProject(`${name} is not JSON`, cause);
    }
  }

  /** Errors: invalid_file for a member that would fill the disk with next to nothing. */
  #requireCredible({ uncompressedSize, compressedSize }: Entry, name: string): void {
    if (uncompressedSize <= MAX_UNDOUBTED_BYTES || uncompressedSize <= MAX_RATIO * compressedSize) return;
    throw damagedProject(
      `${name} would unpack to ${Math.round(uncompressedSize / MIB)} MiB, more than ${MAX_RATIO} times its bytes in the file`,
    );
  }

  /** The bytes of a member. After the last one, its CRC-32 has been compared. */
  async *chunks(name: string): AsyncGenerator<Buffer> {
    const entry = this.#entry(name);
    this.#requireCredible(entry, name);
    let sum = 0;
    let stream: Readable | undefined;
    try {
      stream = await this.#stream(entry);
      for await (const chunk of stream) {
        sum = crc32(chunk as Buffer, sum);
        yield chunk as Buffer;
      }
    } catch (error) {
      throw damagedMember(name, error);
    } finally {
      stream?.destroy();
    }
    if (sum !== entry.crc32) throw damagedProject(`the CRC-32 of ${name} differs`);
  }

  #stream(entry: Entry): Promise<Readable> {
    return new Promise((resolve, reject) => {
      this.#zip.openReadStream(entry, (error, stream) => (error ? reject(error) : resolve(stream)));
    });
  }

  /** Where a member lies that is stored as it is. Errors: invalid_file if it is compressed. */
  async range(name: string): Promise<MemberRange> {
    const entry = this.#entry(name);
    if (entry.compressionMethod !== STORED) throw damagedProject(`${name} is compressed twice`);
    const offset = await new Promise<number>((resolve, reject) => {
      this.#zip.readLocalFileHeader(entry, { minimal: true }, (error, header) =>
        error ? reject(damagedMember(name, error)) : resolve(header.fileDataStart),
      );
    });
    return { archive: this.path, offset, bytes: entry.compressedSize, crc32: entry.crc32 };
  }
}

/** An error with the name of the member that it is about, if it says that the member is damaged. */
export function damagedMember(name: string, error: unknown): unknown {
  const { code, syscall } = error as { code?: string; syscall?: string };
  if (syscall !== undefined) return error; // of the disk
  const message = error instanceof Error ? error.message : String(error);
  if (error instanceof AppError && ((code !== "invalid_file" && code !== "invalid_argument") || message.includes(name)))
    return error;
  return damagedProject(`${name}: ${message}`, error);
}

async function identityOf(path: string): Promise<string> {
  const { dev, ino, size, mtimeNs } = await stat(path, { bigint: true });
  return [dev, ino, size, mtimeNs].join();
}

function opened(path: string): Promise<ZipFile> {
  return new Promise((resolve, reject) => {
    const options = { lazyEntries: true, autoClose: false, strictFileNames: true, validateEntrySizes: true };
    open(path, options, (error: (Error & { code?: string; syscall?: string }) | null, zip) => {
      if (!error) resolve(zip);
      else if (error.syscall !== undefined) reject(error);
      else reject(damagedProject(error.message, error));
    });
  });
}

function entriesOf(zip: ZipFile): Promise<Map<string, Entry>> {
  return new Promise((resolve, reject) => {
    const entries = new Map<string, Entry>();
    const fail = (error: unknown) => reject(damagedProject((error as Error).message, error));
    zip.on("error", fail);
    zip.on("end", () => {
      try {
        checkPlaces([...entries.values()]);
        resolve(entries);
      } catch (error) {
        reject(error);
      }
    });
    zip.on("entry", (entry: Entry) => {
      try {
        checkEntry(entry, entries);
        entries.set(entry.fileName, entry);
        zip.readEntry();
      } catch (error) {
        reject(error);
      }
    });
    if (zip.entryCount > MAX_PROJECT_MEMBERS)
      reject(damagedProject(`${zip.entryCount} members, more than ${MAX_PROJECT_MEMBERS}`));
    else zip.readEntry();
  });
}

function checkEntry(entry: Entry, known: ReadonlyMap<string, Entry>): void {
  const { fileName, compressionMethod } = entry;
  const name = fileName.slice(0, 200);
  if (known.has(fileName)) throw damagedProject(`${name} is there twice`);
  if (entry.isEncrypted()) throw damagedProject(`${name} is encrypted`);
  if (compressionMethod !== STORED && compressionMethod !== DEFLATED)
    throw damagedProject(`${name} is compressed by the unknown method ${compressionMethod}`);
}

/** Refuses members that share bytes: a small file could otherwise unpack to any size. */
function checkPlaces(entries: readonly Entry[]): void {
  const ordered = [...entries].sort((a, b) => a.relativeOffsetOfLocalHeader - b.relativeOffsetOfLocalHeader);
  let end = 0;
  for (const { fileName, fileNameLength, relativeOffsetOfLocalHeader, compressedSize } of ordered) {
    if (relativeOffsetOfLocalHeader < end)
      throw damagedProject(`${fileName.slice(0, 200)} shares bytes with another member`);
    end = relativeOffsetOfLocalHeader + LOCAL_HEADER + fileNameLength + compressedSize;
  }
}
