import { closeSync, constants, openSync, writeSync } from "node:fs";
import { type FileHandle, open, readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { AppError } from "../../shared/errors.ts";
import { remove, rename } from "../file-moves.ts";
import { decodeJournal, decodeMark, encodeMark, encodeRecord, identityOf, payloadsBehind } from "./journal-codec.ts";
import { type JournalRecord, parseRecord } from "./journal-records.ts";

/** Name of the mark beside a journal: the length of its flushed records. */
export const MARK = "journal.mark";
/** The first mark is not ahead of the bytes read after it, unless the journal was replaced in between. */
const MOST_READS = 50;
const markOf = (path: string): string => join(dirname(path), MARK);

/** What a journal file holds. */
export interface JournalContents {
  readonly bytes: Buffer;
  readonly records: readonly JournalRecord[];
  /** Where each of the records ends. */
  readonly ends: readonly number[];
  /** Acknowledged changes behind the records that cannot be read; undefined if only a torn tail follows, or nothing. */
  readonly damage: JournalDamage | undefined;
}

export interface JournalDamage {
  /** Where it begins. */
  readonly at: number;
  /** Readable records behind it. They may build on what is missing, so they are not applied. */
  readonly behind: readonly JournalRecord[];
}

/**
 * Reads a journal and changes nothing; it may be written meanwhile. Errors: invalid_file if it does not begin with a
 * complete create record.
 */
export async function readJournal(path: string): Promise<JournalContents> {
  const { bytes, mark } = await readStill(path);
  const { records, ends, length } = decodeJournal(bytes);
  if (records[0]?.type !== "create") {
    throw new AppError("invalid_file", `${path}: the journal does not begin with a complete create record`);
  }
  const payloads = length < bytes.length ? payloadsBehind(bytes, length) : [];
  const flushed = decodeMark(mark, identityOf(bytes)) ?? 0;
  const damaged = payloads.length > 0 || flushed > length;
  const behind = payloads.map(parseRecord).filter((record) => record !== undefined);
  return { bytes, records, ends, damage: damaged ? { at: length, behind } : undefined };
}

/** A journal and its mark of one moment: a mark that counts more bytes than were read would mean damage. */
async function readStill(path: string): Promise<{ bytes: Buffer; mark: Buffer }> {
  let mark = await readFile(markOf(path)).catch(noMark);
  for (let attempt = 1; ; attempt += 1) {
    const bytes = await readFile(path);
    const after = await readFile(markOf(path)).catch(noMark);
    if (after.equals(mark) || attempt === MOST_READS) return { bytes, mark };
    mark = after; // written meanwhile
  }
}

/** A session of an earlier version has no mark. */
function noMark(error: NodeJS.ErrnoException): Buffer {
  if (error.code === "ENOENT") return Buffer.alloc(0);
  throw error;
}

/** Opens a file for `body` only. */
async function withFile<T>(path: string, flags: string, body: (file: FileHandle) => Promise<T>): Promise<T> {
  const file = await open(path, flags);
  try {
    return await body(file);
  } finally {
    await file.close();
  }
}

/** Writes a file completely or not at all, flushed. */
async function writeWhole(path: string, bytes: Buffer): Promise<void> {
  const staging = `${path}.new`;
  try {
    await withFile(staging, "w+", async (file) => {
      await file.writeFile(bytes);
      await file.datasync();
    });
    await rename(staging, path);
  } catch (error) {
    await remove(staging);
    throw error;
  }
}

/**
 * A journal for writing. Appends are queued, so that two never write at the same offset. Its files are open only while
 * they are written: a process has descriptors for about a thousand files, and users have more sessions.
 */
export class Journal {
  #path: string;
  #length: number;
  #identity: number;
  #closed = false;
  #broken: unknown;
  #queue: Promise<unknown> = Promise.resolve();

  private constructor(path: string, length: number, identity: number) {
    this.#path = path;
    this.#length = length;
    this.#identity = identity;
    this.#writeMark(length);
  }

  static async create(path: string): Promise<Journal> {
    await withFile(path, "wx", async () => undefined);
    return new Journal(path, 0, 0);
  }

  /** Opens a journal that was read, and cuts off a torn tail. */
  static async open(path: string, { bytes, ends }: JournalContents): Promise<Journal> {
    const length = ends.at(-1) ?? 0;
    if (length < bytes.length) await withFile(path, "r+", (file) => file.truncate(length));
    return new Journal(path, length, identityOf(bytes));
  }

  /** Replaces a journal by its first `count` records and one more, completely or not at all, and opens it. */
  static async rewrite(path: string, contents: JournalContents, count: number, last: JournalRecord): Promise<Journal> {
    const kept = contents.bytes.subarray(0, contents.ends[count - 1]);
    const bytes = Buffer.concat([kept, encodeRecord(last)]);
    await writeWhole(path, bytes);
    return new Journal(path, bytes.length, identityOf(bytes));
  }

  /** Its folder was renamed. */
  moved(path: string): void {
    this.#path = path;
  }

  get length(): number {
    return this.#length;
  }

  /** Not flushed: a crash of the machine may leave an earlier mark, which counts fewer bytes. */
  #writeMark(length: number): void {
    const mark = openSync(markOf(this.#path), constants.O_RDWR | constants.O_CREAT, 0o666);
    try {
      writeSync(mark, encodeMark(length, this.#identity), 0, undefined, 0);
    } finally {
      closeSync(mark);
    }
  }

  /** Replaces the journal by one with only these records, completely or not at all. */
  replace(records: readonly JournalRecord[]): Promise<void> {
    const replaced = this.#queue.then(() => this.#replace(records));
    this.#queue = replaced.catch(() => undefined);
    return replaced;
  }

  async #replace(records: readonly JournalRecord[]): Promise<void> {
    this.#requireOpen();
    const bytes = Buffer.concat(records.map(encodeRecord));
    this.#writeMark(0); // until the new journal is in place, no length holds for both
    try {
      await writeWhole(this.#path, bytes);
    } catch (error) {
      this.#writeMark(this.#length);
      throw error;
    }
    this.#length = bytes.length;
    this.#identity = identityOf(bytes);
    this.#broken = undefined;
    this.#writeMark(this.#length);
  }

  /** Appends and flushes: when it resolves, the record survives a crash of the process and of the machine. */
  append(record: JournalRecord): Promise<void> {
    const appended = this.#queue.then(() => this.#append(record));
    this.#queue = appended.catch(() => undefined); // reported to its own caller
    return appended;
  }

  async #append(record: JournalRecord): Promise<void> {
    this.#requireOpen();
    if (this.#broken) await this.#cutTail();
    const bytes = encodeRecord(record);
    await withFile(this.#path, "r+", (file) => this.#write(file, bytes));
    this.#length += bytes.length;
  }

  async #write(file: FileHandle, bytes: Buffer): Promise<void> {
    try {
      let written = 0;
      while (written < bytes.length) {
        const { bytesWritten } = await file.write(bytes, written, bytes.length - written, this.#length + written);
        written += bytesWritten;
      }
      await file.datasync();
      if (this.#length === 0) this.#identity = identityOf(bytes);
      this.#writeMark(this.#length + bytes.length);
    } catch (error) {
      this.#broken = error;
      await this.#cutTail(file).catch(() => undefined); // the next append tries again
      throw error;
    }
  }

  /** A half-written record that is not cut off would hide all later ones. */
  async #cutTail(open?: FileHandle): Promise<void> {
    try {
      if (open) await open.truncate(this.#length);
      else await withFile(this.#path, "r+", (file) => file.truncate(this.#length));
    } catch (cause) {
      const text = "the session's journal could not be written earlier, and edits are not saved";
      throw new AppError("io", text, undefined, { cause });
    }
    this.#broken = undefined;
  }

  /** Why edits cannot be saved at present; undefined if they can. */
  get broken(): unknown {
    return this.#broken;
  }

  #requireOpen(): void {
    if (this.#closed) throw new AppError("io", "the session's journal is closed");
  }

  /** Waits for queued appends; later ones fail. */
  async close(): Promise<void> {
    await this.#queue;
    this.#closed = true;
  }
}
