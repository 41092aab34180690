import { readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { AppError } from "../../../../../shared/errors.ts";
import { MAX_INLINE_EXPORT_BYTES } from "../../../../../shared/limits.ts";
import { Base64Bytes } from "../../../../../shared/wire/json-values.ts";
import { remove } from "../../../../file-moves.ts";
import type { Job } from "../../../../jobs/job.ts";
import { makeTemporaryFolder } from "../../../../sessions/temporary-folder.ts";
import type { Destination, OldFile } from "../../../files/destination.ts";

/** A file of the answer. */
export interface DeliveredFile {
  readonly name: string;
  readonly data: Base64Bytes | null;
  readonly written: boolean;
  readonly bytes: number;
}

/**
 * The files of an export: incomplete under other names until deliver(), which moves them to their places or reads them.
 * Call discard() in the end, whatever happened: nothing incomplete stays.
 */
export class ExportedFiles {
  readonly #destinations: ReadonlyMap<string, Destination> | null;
  /** For files that are returned; made for the first one. */
  #folder: string | null = null;
  readonly #paths = new Map<string, string>();
  readonly #leftovers: (() => Promise<void>)[] = [];

  constructor(destinations: ReadonlyMap<string, Destination> | null) {
    this.#destinations = destinations;
  }

  /** Where to write the file of this name. */
  async begin(name: string): Promise<string> {
    const place = this.#destinations?.get(name);
    if (this.#destinations && !place) throw new AppError("internal", `${name} has no destination`);
    if (place) this.#leftovers.push(await place.begin());
    else this.#folder ??= await makeTemporaryFolder("export");
    const path = place?.temporary ?? join(this.#folder ?? "", `${this.#paths.size}`);
    this.#paths.set(name, path);
    return path;
  }

  async writeText(name: string, text: string): Promise<void> {
    await writeFile(await this.begin(name), text);
  }

  /** Delivers the files in the order of `names`. If one cannot be, none stays, and the files that they replace are back. */
  async deliver(names: readonly string[], job: Job, saving: (name: string) => void): Promise<DeliveredFile[]> {
    const sizes = await Promise.all(names.map(async (name) => (await stat(this.#pathOf(name))).size));
    const sum = sizes.reduce((total, size) => total + size, 0);
    if (!this.#destinations && sum > MAX_INLINE_EXPORT_BYTES) {
      throw new AppError(
        "invalid_argument",
        `${sum} bytes do not fit into an answer (limit ${MAX_INLINE_EXPORT_BYTES}); send dest_dir to write files`,
      );
    }
    const replaced: OldFile[] = [];
    const delivered: DeliveredFile[] = [];
    try {
      for (const [i, name] of names.entries()) {
        saving(name);
        const place = this.#destinations?.get(name);
        if (place) {
          replaced.unshift(await place.keepOld());
          await place.replace();
        }
        const data = place ? null : new Base64Bytes(await readFile(this.#pathOf(name), { signal: job.signal }));
        delivered.push({ name, data, written: place !== undefined, bytes: sizes[i] ?? 0 });
      }
    } catch (error) {
      for (const old of replaced) await old.putBack();
      throw error;
    } finally {
      for (const old of replaced) await old.drop();
    }
    return delivered;
  }

  async discard(): Promise<void> {
    for (const leftover of this.#leftovers) await leftover();
    if (this.#folder) await remove(this.#folder);
  }

  #pathOf(name: string): string {
    const path = this.#paths.get(name);
    if (path === undefined) throw new AppError("internal", `${name} was not written`);
    return path;
  }
}
