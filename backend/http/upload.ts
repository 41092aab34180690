import { createWriteStream } from "node:fs";
import { extname, join } from "node:path";
import { pipeline } from "node:stream/promises";
import type { FastifyRequest } from "fastify";
import { AppError } from "../../shared/errors.ts";
import { remove as removeFolder } from "../file-moves.ts";
import { makeTemporaryFolder } from "../sessions/temporary-folder.ts";
import { stalledBody } from "./body-chunks.ts";

/** An uploaded file on disk. */
export interface Upload {
  readonly path: string;
  /** Replaces the temporary path in the message of `error` by the uploaded file's name. */
  named(error: unknown): unknown;
  /** Deletes the file. Must be called whether the request succeeds or fails. */
  remove(): Promise<void>;
}

/**
 * Stores the form's part `file` in a temporary file. Errors: invalid_argument if the part is missing, its extension is
 * not one of `extensions` (lower case, with dot), or the file is larger than the form's limit; timeout if no byte
 * arrives for `stallS`.
 */
export async function receiveUpload(
  request: FastifyRequest,
  extensions: readonly string[],
  stallS: number,
): Promise<Upload> {
  const stall = new AbortController();
  const watch = watchProgress(request.raw, stallS, () => stall.abort(stalledBody(stallS)));
  try {
    return await abortable(storeUpload(request, extensions, stall.signal), stall.signal);
  } finally {
    clearInterval(watch);
  }
}

/** Calls `onStall` if the form is read but no byte of it arrives for `stallS`. */
export function watchProgress(raw: FastifyRequest["raw"], stallS: number, onStall: () => void): NodeJS.Timeout {
  let seen = -1;
  let since = performance.now();
  const look = () => {
    const { bytesRead } = raw.socket;
    const waitsForUs = raw.isPaused(); // the disk is slower than the client
    if (bytesRead !== seen || waitsForUs || raw.complete) {
      seen = bytesRead;
      since = performance.now();
    } else if (performance.now() - since >= 1000 * stallS) onStall();
  };
  return setInterval(look, Math.min(1000, 250 * stallS));
}

/** Settles like `work`, or rejects as soon as the signal aborts: a form that stalls before its file never settles. */
export function abortable<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
    work.then(resolve, reject);
  });
}

async function storeUpload(
  request: FastifyRequest,
  extensions: readonly string[],
  signal: AbortSignal,
): Promise<Upload> {
  if (!request.isMultipart()) {
    const type = request.headers["content-type"] ?? "no content type";
    throw new AppError("invalid_argument", `send a multipart form with one part named "file", not ${type}`);
  }
  const part = await request.file();
  if (part?.fieldname !== "file") throw new AppError("invalid_argument", 'the form needs one part named "file"');
  if (!part.filename)
    throw new AppError("invalid_argument", 'the part "file" has no file name; its extension names the format');
  const extension = extname(part.filename).toLowerCase();
  if (!extensions.includes(extension)) {
    throw new AppError(
      "invalid_argument",
      `"${part.filename}": only ${extensions.join(", ")} files can be uploaded here`,
    );
  }
  const folder = await makeTemporaryFolder("upload");
  const remove = () => removeFolder(folder);
  try {
    const path = join(folder, `cloud${extension}`);
    await pipeline(part.file, createWriteStream(path, { flags: "wx" }), { signal });
    if (part.file.truncated)
      throw new AppError("invalid_argument", `"${part.filename}" is larger than an upload may be; import it by path`);
    const named = (error: unknown) =>
      error instanceof AppError && error.message.includes(path)
        ? new AppError(error.code, error.message.replaceAll(path, part.filename), error.details, { cause: error })
        : error;
    return { path, named, remove };
  } catch (error) {
    await remove();
    throw error;
  }
}
