import { join } from "node:path";
import { AppError } from "../../shared/errors.ts";
import * as columnFiles from "../native/core/column-files.ts";
import { type QueuedRun, unlessAborted } from "./edit-queue.ts";

/** Progress message while a run waits for the proof. */
export const PROOF_LABEL = "Checking the files of this cloud";

const DAMAGED =
  "Files of this cloud are damaged on the disk. The next request finds its last undamaged state, if there is one, and says what is lost.";

/**
 * Whether the column files of a session are those that were written. Files that were flushed before a restart are mapped
 * without being read; the first request for the session begins to compare them with their checksums.
 */
export class FileProof {
  readonly #paths: readonly string[];
  readonly #onDamage: (error: AppError) => AppError;
  #proof: Promise<void> | undefined;
  #passed: boolean;

  /** `onDamage` is called once, before those that wait get the error that it returns. */
  constructor(folder: string, files: readonly string[], onDamage: (error: AppError) => AppError) {
    this.#paths = files.map((file) => join(folder, file));
    this.#onDamage = onDamage;
    this.#passed = files.length === 0;
  }

  /** Begins the comparison in the background, once. */
  begin(): void {
    if (this.#passed) return;
    this.#proof ??= this.#compare();
    this.#proof.catch(() => undefined); // told by onDamage and to those that wait
  }

  /** Resolves when all files are proven. Errors: conflict if one is damaged; canceled; io if one cannot be read now. */
  async passed(run: QueuedRun | null): Promise<void> {
    this.begin();
    const proof = this.#proof;
    if (this.#passed || proof === undefined) return;
    await (run ? run.whileQueued(PROOF_LABEL, () => unlessAborted(proof, run.signal)) : proof);
  }

  async #compare(): Promise<void> {
    let damaged: number[];
    try {
      damaged = await columnFiles.damagedColumnFiles(this.#paths).promise;
    } catch (error) {
      this.#proof = undefined; // cannot be read now; the next request tries again
      throw error;
    }
    const names = damaged.map((i) => this.#paths[i]);
    this.#passed = names.length === 0;
    if (this.#passed) return;
    const cause = new Error(`damaged: ${names.join(", ")}`);
    throw this.#onDamage(new AppError("conflict", DAMAGED, undefined, { cause }));
  }
}
