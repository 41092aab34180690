import { type FileHandle, open, readFile, rename, rm } from "node:fs/promises";
import { crc32 } from "node:zlib";
import { AppError } from "../../shared/errors.ts";
import { MAX_JOURNAL_RECORD_BYTES } from "../../shared/limits.ts";
import { type JournalRecord, parseRecord } from "./journal-records.ts";

/**
 * The journal of one session: an append-only file of records, little-endian.
 *
 * | offset | size | type | meaning |
 * |---|---|---|---|
 * | 0 | 4 | u32 | byte length of the payload |
 * | 4 | 4 | u32 | CRC-32 of the payload |
 * | 8 | length | UTF-8 | JSON: one JournalRecord |
 *
 * The first record is `create`. The journal ends before the first record that is cut short or whose checksum differs:
 * such a record was never acknowledged.
 */

/** Errors: invalid_argument if the record is larger than a restart reads. */
export function encodeRecord(record: JournalRecord): Buffer {
  const payload = Buffer.from(JSON.stringify(record));
  if (payload.length > MAX_JOURNAL_RECORD_BYTES) {
    throw new AppError(
      "invalid_argument",
      `The description of this change takes ${payload.length} bytes, but the session's journal holds at most ${MAX_JOURNAL_RECORD_BYTES} per change: send shorter names or fewer strokes at a time`,
    );
  }
  const head = Buffer.alloc(8);
  head.writeUInt32LE(payload.length, 0);
  head.writeUInt32LE(crc32(payload), 4);
  return Buffer.concat([head, payload]);
}

export interface DecodedJournal {
  readonly records: JournalRecord[];
  /** Bytes of the valid records; what follows is a torn tail. */
  readonly length: number;
}

/** Reads records up to the first torn one. Never throws on damage. */
export function decodeJournal(bytes: Buffer): DecodedJournal {
  const records: JournalRecord[] = [];
  let at = 0;
  while (at + 8 <= bytes.length) {
    const length = bytes.readUInt32LE(at);
    if (length > MAX_JOURNAL_RECORD_BYTES || at + 8 + length > bytes.length) break;
    const payload = bytes.subarray(at + 8, at + 8 + length);
    if (crc32(payload) !== bytes.readUInt32LE(at + 4)) break;
    const record = parseRecord(payload);
    if (!record) break;
    records.push(record);
    at += 8 + length;
  }
  return { records, length: at };
}

/** An open journal. Appends are queued, so that two never write at the same offset. */
export class Journal {
  #file: FileHandle;
  #length: number;
  #broken: unknown;
  #queue: Promise<unknown> = Promise.resolve();

  private constructor(file: FileHandle, length: number) {
    this.#file = file;
    this.#length = length;
  }

  static async create(path: string): Promise<Journal> {
    return new Journal(await open(path, "wx"), 0);
  }

  get length(): number {
    return this.#length;
  }

  /** Replaces the journal by one with only these records, completely or not at all. */
  replace(path: string, records: readonly JournalRecord[]): Promise<void> {
    const replaced = this.#queue.then(() => this.#replace(path, records));
    this.#queue = replaced.catch(() => undefined);
    return replaced;
  }

  async #replace(path: string, records: readonly JournalRecord[]): Promise<void> {
    const staging = `${path}.new`;
    const bytes = Buffer.concat(records.map(encodeRecord));
    const file = await open(staging, "w+");
    try {
      await file.writeFile(bytes);
      await file.datasync();
      await rename(staging, path);
    } catch (error) {
      await file.close();
      await rm(staging, { force: true });
      throw error;
    }
    const old = this.#file;
    this.#file = file;
    this.#length = bytes.length;
    this.#broken = undefined;
    await old.close();
  }

  /** Opens a journal and cuts off a torn tail. Errors: invalid_file, without change, if no create record is valid. */
  static async recover(path: string): Promise<{ journal: Journal; records: JournalRecord[] }> {
    const { records, length } = decodeJournal(await readFile(path));
    if (records[0]?.type !== "create") {
      throw new AppError("invalid_file", `${path}: the journal does not begin with a complete create record`);
    }
    const file = await open(path, "r+");
    await file.truncate(length);
    return { journal: new Journal(file, length), records };
  }

  /** Appends and flushes: when it resolves, the record survives a crash of the process and of the machine. */
  append(record: JournalRecord): Promise<void> {
    const appended = this.#queue.then(() => this.#append(record));
    this.#queue = appended.catch(() => undefined); // reported to its own caller
    return appended;
  }

  async #append(record: JournalRecord): Promise<void> {
    if (this.#broken)
      throw new AppError(
        "io",
        "the session's journal could not be written earlier; edits are no longer saved",
        undefined,
        { cause: this.#broken },
      );
    const bytes = encodeRecord(record);
    try {
      let written = 0;
      while (written < bytes.length) {
        const { bytesWritten } = await this.#file.write(bytes, written, bytes.length - written, this.#length + written);
        written += bytesWritten;
      }
      await this.#file.datasync();
      this.#length += bytes.length;
    } catch (error) {
      await this.#file.truncate(this.#length).catch((cause: unknown) => {
        this.#broken = cause; // a half-written record that cannot be cut off would hide all later ones
      });
      throw error;
    }
  }

  /** Waits for queued appends, then closes the file. */
  async close(): Promise<void> {
    await this.#queue;
    await this.#file.close();
  }
}
