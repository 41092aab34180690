import { createWriteStream } from "node:fs";
import { open } from "node:fs/promises";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { ZipFile } from "yazl";

/** A member to be written. `deflated`: for text and scenes; columns and octrees are compressed already. */
export interface NewMember {
  readonly name: string;
  readonly deflated: boolean;
  /** Called when its turn comes; its bytes are read as fast as they are written. */
  content(): AsyncIterable<Uint8Array>;
}

/** All members get this time: equal projects have equal bytes. DOS times have no zone. */
const MTIME = new Date(1980, 0, 1, 12);

/**
 * Writes a ZIP64 archive of the members, in order, and flushes it to the disk. Returns its size, bytes. A failure or an
 * abort leaves an incomplete file, which the caller removes. Errors: those of the members; no_space, io.
 */
export async function writeArchive(path: string, members: readonly NewMember[], signal: AbortSignal): Promise<number> {
  const zip = new ZipFile();
  const stop = new AbortController();
  const give = (error: unknown) => stop.abort(error);
  zip.on("error", give);
  const cancel = () => give(signal.reason);
  signal.addEventListener("abort", cancel, { once: true });
  const running = new Set<Readable>();
  try {
    for (const { name, deflated, content } of members) {
      const stream = Readable.from(lazily(content), { objectMode: false, highWaterMark: 1 << 20 });
      running.add(stream);
      stream.once("error", give);
      stream.once("close", () => running.delete(stream));
      zip.addReadStream(stream, name, { compress: deflated, mtime: MTIME });
    }
    zip.end();
    const file = createWriteStream(path, { flags: "wx", highWaterMark: 4 << 20 });
    await pipeline(zip.outputStream, file, { signal: stop.signal }).catch((error: unknown) => {
      throw stop.signal.aborted ? stop.signal.reason : error;
    });
    await flush(path);
    return file.bytesWritten;
  } finally {
    signal.removeEventListener("abort", cancel);
    await Promise.all([...running].map(ended));
  }
}

/** Begins a content when it is asked for its first bytes. */
async function* lazily(content: NewMember["content"]): AsyncGenerator<Uint8Array> {
  yield* content();
}

/** Ends a stream of a member and waits until its content has given back what it holds. */
function ended(stream: Readable): Promise<void> {
  return new Promise((resolve) => {
    stream.once("close", () => resolve());
    stream.once("error", () => undefined);
    stream.destroy();
    if (stream.closed) resolve();
  });
}

async function flush(path: string): Promise<void> {
  const file = await open(path, "r+");
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}
