import { randomBytes } from "node:crypto";
import { createWriteStream, type WriteStream } from "node:fs";
import { mkdir, readdir } from "node:fs/promises";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import type { Logger } from "pino";
import { AppError } from "../../shared/errors.ts";
import { remove } from "../file-moves.ts";
import { leaseAlive } from "./process-lease.ts";

const NAME = /^(\d+)-[0-9a-f]{32}\.psc$/;

/** A scene document on disk. Whoever took it removes it. */
export interface StagedScene {
  readonly path: string;
  readonly bytes: number;
  /** Never rejects. */
  remove(): Promise<void>;
}

/** A stream that fails at once is ended while its file is still being made, which would come after its removal. */
const closed = (file: WriteStream) =>
  new Promise<void>((resolve) => {
    if (file.closed) resolve();
    else file.once("close", () => resolve());
  });

export const unknownScene = () => new AppError("not_found", "Unknown or expired scene token.");

interface Entry extends StagedScene {
  readonly timer: NodeJS.Timeout;
}

/**
 * Scene documents on their way into a project or out of one: files under unguessable tokens, each for one use. They expire.
 * A token is looked up, never joined into a path.
 */
export class SceneStore {
  readonly #root: string;
  readonly #ttlMs: number;
  readonly #log: Logger;
  readonly #entries = new Map<string, Entry>();

  constructor(root: string, ttlMs: number, log: Logger) {
    this.#root = root;
    this.#ttlMs = ttlMs;
    this.#log = log;
  }

  /** Stages a document. A failure leaves no file. Errors: invalid_argument for an empty one; no_space, io. */
  async add(chunks: AsyncIterable<Uint8Array>): Promise<{ readonly token: string; readonly bytes: number }> {
    await mkdir(this.#root, { recursive: true, mode: 0o700 });
    const path = join(this.#root, `${process.pid}-${randomBytes(16).toString("hex")}.psc`);
    const file = createWriteStream(path, { flags: "wx", mode: 0o600 });
    try {
      await pipeline(chunks, file);
      if (file.bytesWritten === 0) throw new AppError("invalid_argument", "the scene document is empty");
    } catch (error) {
      await closed(file);
      await remove(path);
      throw error;
    }
    return this.#keep(path, file.bytesWritten);
  }

  #keep(path: string, bytes: number): { token: string; bytes: number } {
    const token = randomBytes(16).toString("hex");
    const removeFile = () =>
      remove(path).catch((error: unknown) => this.#log.warn({ err: error }, "a scene document was not removed"));
    const timer = setTimeout(() => {
      this.#entries.delete(token);
      void removeFile();
    }, this.#ttlMs);
    timer.unref();
    this.#entries.set(token, { path, bytes, remove: removeFile, timer });
    return { token, bytes };
  }

  /** The document of a token, which is used up; undefined if there is none. */
  find(token: string): StagedScene | undefined {
    const entry = this.#entries.get(token);
    clearTimeout(entry?.timer);
    this.#entries.delete(token);
    return entry;
  }
  /** Like find. Errors: not_found. */
  take(token: string): StagedScene {
    const scene = this.find(token);
    if (!scene) throw unknownScene();
    return scene;
  }

  /** Removes what processes left that have ended. Never rejects. */
  async sweep(): Promise<void> {
    for (const name of await readdir(this.#root).catch(() => [])) {
      const pid = Number(NAME.exec(name)?.[1] ?? 0);
      if (pid === 0 || pid === process.pid || leaseAlive({ pid, start_time: null, instance: "" })) continue;
      await remove(join(this.#root, name)).catch((error: unknown) =>
        this.#log.debug(
          { err: error, name },
          "scene document of an ended process not removed; the next start tries again",
        ),
      );
    }
  }

  /** Removes all documents. */
  async close(): Promise<void> {
    for (const token of [...this.#entries.keys()]) await this.find(token)?.remove();
  }
}
