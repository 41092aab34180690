import { Readable } from "node:stream";
import type { FastifyReply } from "fastify";
import { AppError } from "../../shared/errors.ts";
import { SEND_BLOCK_BYTES } from "../../shared/limits.ts";
import { encodeFrameHeader, type FrameDtype } from "../../shared/wire/phb1.ts";
import { encodePointsHeader } from "../../shared/wire/phx1.ts";
import { SendBlocks, type SendQueue } from "./send-blocks.ts";

/** A counted reference to native memory; backend/sessions/column-ref.ts implements it. */
export interface ColumnSource {
  /** `readInto` copies bytes starting at `byteOffset` and returns the number of bytes copied. */
  readonly native: { readInto(out: Uint8Array, byteOffset: number): number };
  retain(): unknown;
  release(): void;
}

/** Contents of one buffer. Small results are typed arrays; large ones are native columns with the buffer's type. */
export type PayloadData = Float32Array | Uint32Array | ColumnSource;
export interface Payload {
  /** Elements (4 bytes each), not rows. */
  readonly length: number;
  readonly data: PayloadData;
}
export interface FrameBuffer extends Payload {
  readonly dtype: FrameDtype;
}

/** A PHB1 response: scalars in `meta`, arrays by name in the order of `buffers`. */
export interface FrameResult {
  readonly meta: Readonly<Record<string, unknown>>;
  readonly buffers: Readonly<Record<string, FrameBuffer>>;
}

/** A PHX1 response. All columns are float32. */
export interface PointsResult {
  readonly point_count: number;
  /** Misses that were left out. */
  readonly miss_count: number;
  readonly positions: PayloadData;
  readonly colors: PayloadData | undefined;
  readonly intensity: PayloadData | undefined;
}

/**
 * Sends a PHB1 frame block by block. Its columns are retained until the last byte is sent or the client disconnects.
 */
export function sendFrame(reply: FastifyReply, result: FrameResult): FastifyReply {
  return sendChunks(reply, frameChunks(holdFrame(result), reply.raw));
}

/** Sends a PHX1 stream in the same way. Errors: unsupported for more points than the header's uint32 can count. */
export function sendPoints(reply: FastifyReply, result: PointsResult): FastifyReply {
  const { point_count: n, miss_count, positions, colors, intensity } = result;
  const header = encodePointsHeader(n, colors !== undefined, intensity !== undefined, miss_count);
  const payloads: Payload[] = [{ length: 3 * n, data: positions }];
  if (colors) payloads.push({ length: 3 * n, data: colors });
  if (intensity) payloads.push({ length: n, data: intensity });
  return sendChunks(reply, chunks(header, hold(payloads), reply.raw));
}

function sendChunks(reply: FastifyReply, held: HeldChunks): FastifyReply {
  const stream = Readable.from(held, { objectMode: true, highWaterMark: 1 });
  stream.once("close", () => held.release()); // also when the client disconnects before the first byte
  return reply.type("application/octet-stream").send(stream);
}

/** Payloads whose columns are retained until release(). */
export interface Held {
  readonly payloads: readonly Payload[];
  /** Idempotent. */
  release(): void;
}
export interface HeldFrame extends Held {
  readonly header: Uint8Array;
}

/** Retains every column of a frame, so that the run that made it may end before the frame is sent. */
export function holdFrame({ meta, buffers }: FrameResult): HeldFrame {
  const entries = Object.entries(buffers);
  const header = encodeFrameHeader(
    meta,
    entries.map(([name, { dtype, length }]) => ({ name, dtype, length })),
  );
  for (const [name, { dtype, data }] of entries) {
    const wrong = dtype === "f32" ? data instanceof Uint32Array : data instanceof Float32Array;
    if (wrong) throw new AppError("internal", `buffer "${name}" is declared ${dtype} but holds the other type`);
  }
  const held = hold(entries.map(([, payload]) => payload));
  return { header, payloads: held.payloads, release: held.release };
}

function hold(payloads: readonly Payload[]): Held {
  for (const { length, data } of payloads) {
    const there = isColumn(data) ? undefined : data.length;
    if (there !== undefined && there !== length) {
      throw new AppError("internal", `a buffer of ${there} elements is declared with ${length}`);
    }
  }
  const columns = payloads.flatMap(({ data }) => (isColumn(data) ? [data] : []));
  for (const column of columns) column.retain();
  return {
    payloads,
    release: () => {
      for (const column of columns.splice(0)) column.release();
    },
  };
}

function isColumn(data: PayloadData): data is ColumnSource {
  return !(data instanceof Float32Array || data instanceof Uint32Array);
}

interface HeldChunks extends AsyncIterable<Uint8Array> {
  release(): void;
}

/** The bytes of a frame, for an answer that sends them in order through `queue`: blocks that have left are filled again. */
export function frameChunks(held: HeldFrame, queue: SendQueue): HeldChunks {
  return chunks(held.header, held, queue);
}

function chunks(header: Uint8Array, held: Held, queue: SendQueue): HeldChunks {
  return { [Symbol.asyncIterator]: () => produce(header, held, new SendBlocks(queue)), release: held.release };
}

async function* produce(header: Uint8Array, held: Held, free: SendBlocks): AsyncGenerator<Uint8Array> {
  try {
    yield header;
    for (const payload of held.payloads) yield* blocks(payload, free);
  } finally {
    held.release();
  }
}

function* blocks({ length, data }: Payload, free: SendBlocks): Generator<Uint8Array> {
  const total = 4 * length;
  for (let at = 0; at < total; at += SEND_BLOCK_BYTES) {
    const size = Math.min(SEND_BLOCK_BYTES, total - at);
    if (!isColumn(data)) {
      yield new Uint8Array(data.buffer, data.byteOffset + at, size);
      continue;
    }
    const block = free.take(size);
    const got = data.native.readInto(block, at);
    if (got !== size) throw new AppError("internal", `a column gave ${got} of ${size} bytes at ${at}`);
    yield block;
  }
}
