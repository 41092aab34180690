import { randomBytes } from "node:crypto";
import { createWriteStream } from "node:fs";
import { mkdir, readdir, statfs } from "node:fs/promises";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import type { Logger } from "pino";
import { AppError } from "../../shared/errors.ts";
import { MIB, MIN_FREE_AFTER_UPLOAD_BYTES } from "../../shared/limits.ts";
import { remove } from "../file-moves.ts";
import { leaseAlive } from "./process-lease.ts";
import { uploadName } from "./upload-name.ts";

const FOLDER = /^(\d+)-([0-9a-f]{32})$/;
/** The disk is asked again after this much. */
const CHECK_BYTES = 64 * MIB;

/** A file that a client has sent. */
export interface StoredUpload {
  readonly upload_id: string;
  readonly path: string;
  readonly name: string;
  readonly bytes: number;
}

/** What a client sends. */
export interface IncomingUpload {
  readonly name: string;
  /** Bytes that the client announces; undefined: unknown. */
  readonly declared: number | undefined;
  readonly chunks: AsyncIterable<Uint8Array>;
}

/**
 * Files that the window sends because the service cannot read the user's disk: each in a folder of its own with an
 * unguessable name, until the client deletes it, it expires or the service ends.
 */
export class UploadStore {
  readonly #root: string;
  readonly #ttlMs: number;
  readonly #log: Logger;
  readonly #timers = new Map<string, NodeJS.Timeout>();
  /** Uploads in progress. */
  readonly #active = new Set<string>();
  /** Bytes announced by the uploads in progress and not yet written. */
  #expected = 0;
  #isOver = false;

  constructor(root: string, ttlMs: number, log: Logger) {
    this.#root = root;
    this.#ttlMs = ttlMs;
    this.#log = log;
  }

  /**
   * Stores a file. A failure, such as a client that hangs up, leaves nothing.
   * Errors: invalid_argument for an empty file; no_space, also before the first byte for an announced size;
   * canceled if the service ends meanwhile; io.
   */
  async add({ name, declared, chunks }: IncomingUpload): Promise<StoredUpload> {
    await mkdir(this.#root, { recursive: true, mode: 0o700 });
    const open = { bytes: declared ?? 0 };
    this.#expected += open.bytes; // before the disk is asked: another upload may ask at the same time
    const upload_id = randomBytes(16).toString("hex");
    const folder = this.#folder(upload_id);
    this.#active.add(upload_id);
    try {
      await this.#requireSpace(open.bytes);
      await mkdir(folder, { mode: 0o700 });
      const stored = uploadName(name);
      const path = join(folder, stored);
      const file = createWriteStream(path, { flags: "wx", mode: 0o600 });
      await pipeline(this.#watched(chunks, open), file);
      this.#requireService();
      if (file.bytesWritten === 0) throw new AppError("invalid_argument", `the file "${stored}" is empty`);
      this.#keep(upload_id);
      return { upload_id, path, name: stored, bytes: file.bytesWritten };
    } catch (error) {
      await remove(folder);
      throw error;
    } finally {
      this.#expected -= open.bytes;
      this.#active.delete(upload_id);
    }
  }

  /** Whether there was such an upload. Errors: io. */
  async delete(uploadId: string): Promise<boolean> {
    const timer = this.#timers.get(uploadId); // an id is looked up, never joined into a path unchecked
    if (timer === undefined) return false;
    clearTimeout(timer);
    this.#timers.delete(uploadId);
    await remove(this.#folder(uploadId));
    return true;
  }

  /** Removes what processes left that have ended, also one that had the number of this process. Never rejects. */
  async sweep(): Promise<void> {
    for (const name of await readdir(this.#root).catch(() => [])) {
      const [, number, id = ""] = FOLDER.exec(name) ?? [];
      const pid = Number(number ?? 0);
      const isOurs = this.#active.has(id) || this.#timers.has(id);
      const isForeign = pid !== process.pid && leaseAlive({ pid, start_time: null, instance: "" });
      if (pid === 0 || isOurs || isForeign) continue;
      await remove(join(this.#root, name)).catch((error: unknown) =>
        this.#log.debug({ err: error, name }, "upload of an ended process not removed; the next start tries again"),
      );
    }
  }

  /** Removes all uploads; those in progress end with their next bytes. */
  async close(): Promise<void> {
    this.#isOver = true;
    for (const id of [...this.#timers.keys()]) await this.#drop(id);
  }

  #folder = (id: string) => join(this.#root, `${process.pid}-${id}`);

  #keep(id: string): void {
    const timer = setTimeout(() => void this.#drop(id), this.#ttlMs);
    timer.unref();
    this.#timers.set(id, timer);
  }

  #drop = (id: string) =>
    this.delete(id).catch((error: unknown) => this.#log.warn({ err: error }, "an upload was not removed"));

  /** Passes chunks on while the disk has room, also for clients that announce no size or other programs that write. */
  async *#watched(chunks: AsyncIterable<Uint8Array>, open: { bytes: number }): AsyncGenerator<Uint8Array> {
    let written = 0;
    let checked = 0;
    for await (const chunk of chunks) {
      this.#requireService();
      const expected = Math.min(open.bytes, chunk.length);
      open.bytes -= expected;
      this.#expected -= expected;
      written += chunk.length;
      if (written - checked >= CHECK_BYTES) {
        checked = written;
        await this.#requireSpace(open.bytes);
      }
      yield chunk;
    }
  }

  #requireService(): void {
    if (this.#isOver) throw new AppError("canceled", "the service ends; send the file again after its next start");
  }

  /** Errors: no_space unless the `bytes` of an upload, what the others expect and the reserve fit on the disk. */
  async #requireSpace(bytes: number): Promise<void> {
    const { bavail, bsize } = await statfs(this.#root);
    const free = bavail * bsize;
    const others = this.#expected - bytes;
    if (bytes + others + MIN_FREE_AFTER_UPLOAD_BYTES <= free) return;
    const mib = (count: number) => Math.ceil(count / MIB);
    throw new AppError(
      "no_space",
      `The file needs ${mib(bytes)} MiB, and ${mib(MIN_FREE_AFTER_UPLOAD_BYTES)} MiB must stay free, but the disk of the data folder has ${mib(Math.max(0, free - others))} MiB left. Free some space, or open the file by its path.`,
    );
  }
}
