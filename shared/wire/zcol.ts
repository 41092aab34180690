import { z } from "zod";
import { AppError } from "../errors.ts";
import { utf8, viewOf } from "./bytes.ts";

/*
 * ZCOL: a column file of a project archive (`.pz`). Little-endian. The service writes and reads it in native code
 * (cpp/io/archive/zcol_header.h); this decoder is for browsers and scripts.
 *
 * offset  size  type   meaning
 * 0       6     bytes  "ZCOL", 0x01, line feed
 * 6       4     u32    length of the header, at most 4096
 * 10            UTF-8  {"dtype": "<f8", "shape": [n, 3], "filter": "shuffle", "block_rows": 349525}
 *
 * Then for each block of block_rows rows, the last one shorter: u32 length, raw deflate stream (RFC 1951) of that length.
 * Filters, per block: none = the values; shuffle = all first bytes of the values, then all second bytes, ...;
 * delta_shuffle = differences to the row before as integers that wrap around, the first row to 0, then shuffle.
 */

const TAG = [0x5a, 0x43, 0x4f, 0x4c, 0x01, 0x0a];
const MAX_HEADER_BYTES = 4096;
/** One byte of a deflate stream stands for at most so many. */
const MOST_INFLATION = 1032;

const ARRAYS = {
  "|b1": Uint8Array,
  "|u1": Uint8Array,
  "|i1": Int8Array,
  "<u2": Uint16Array,
  "<i2": Int16Array,
  "<u4": Uint32Array,
  "<i4": Int32Array,
  "<u8": BigUint64Array,
  "<i8": BigInt64Array,
  "<f4": Float32Array,
  "<f8": Float64Array,
} as const;
type TypeString = keyof typeof ARRAYS;

const Header = z.strictObject({
  dtype: z.enum(Object.keys(ARRAYS) as [TypeString, ...TypeString[]]),
  shape: z.array(z.int().min(0)).min(1).max(2),
  filter: z.enum(["none", "shuffle", "delta_shuffle"]),
  block_rows: z.int().min(1),
});

/** A decoded column. */
export interface ColumnArray {
  readonly dtype: TypeString;
  /** Rows, then values in a row if there are several. */
  readonly shape: readonly number[];
  /** Row by row. `|b1`: bytes 0 and 1. */
  readonly values: InstanceType<(typeof ARRAYS)[TypeString]>;
}

const damaged = (why: string) => new AppError("invalid_file", `damaged column: ${why}`);

/**
 * Decodes a column file, bit for bit. It does not see the CRC-32 of the archive: compare that first.
 * Errors: invalid_file, naming the broken rule; memory is taken for no more than the bytes can hold.
 */
export async function decodeColumn(bytes: Uint8Array): Promise<ColumnArray> {
  const { header, start } = readHeader(bytes);
  const { dtype, shape, filter, block_rows } = header;
  const rows = shape[0] ?? 0;
  const width = shape[1] ?? 1;
  const size = ARRAYS[dtype].BYTES_PER_ELEMENT;
  const rowBytes = width * size;
  if (rows * rowBytes > (bytes.length - start) * MOST_INFLATION) throw damaged("too short for its rows");
  const out = new Uint8Array(rows * rowBytes);
  const view = viewOf(bytes);
  let at = start;
  for (let first = 0; first < rows && rowBytes > 0; first += block_rows) {
    if (bytes.length - at < 4) throw damaged("a block is missing");
    const length = view.getUint32(at, true);
    at += 4;
    if (length > bytes.length - at) throw damaged("the length of a block");
    const block = out.subarray(first * rowBytes, Math.min(rows, first + block_rows) * rowBytes);
    const filtered = await inflated(bytes.subarray(at, at + length), block.length);
    unfilter(filtered, block, { size, width, shuffled: filter !== "none", delta: filter === "delta_shuffle" });
    at += length;
  }
  if (at !== bytes.length) throw damaged("bytes behind its last block");
  return { dtype, shape, values: new ARRAYS[dtype](out.buffer) };
}

function readHeader(bytes: Uint8Array): { header: z.infer<typeof Header>; start: number } {
  if (bytes.length < 10 || TAG.some((byte, i) => bytes[i] !== byte)) throw damaged("it does not begin with its tag");
  const length = viewOf(bytes).getUint32(6, true);
  if (length > MAX_HEADER_BYTES || length > bytes.length - 10) throw damaged("the length of its header");
  let json: unknown;
  try {
    json = JSON.parse(utf8(bytes.subarray(10, 10 + length)));
  } catch (cause) {
    throw new AppError("invalid_file", "damaged column: its header is not JSON", undefined, { cause });
  }
  const parsed = Header.safeParse(json);
  if (!parsed.success) {
    const { path, message } = parsed.error.issues[0] ?? { path: [], message: "" };
    throw damaged(`its header: ${path.join(".")} ${message}`);
  }
  return { header: parsed.data, start: 10 + length };
}

/** The stream's bytes, which must be `size`. */
async function inflated(stream: Uint8Array, size: number): Promise<Uint8Array> {
  const out = new Uint8Array(size);
  // The types of Node 20 lack "deflate-raw", which it has since 20.12.
  const inflate = new DecompressionStream("deflate-raw" as "deflate");
  const writer = inflate.writable.getWriter();
  const written = writer.write(stream as Uint8Array<ArrayBuffer>).then(() => writer.close());
  written.catch(() => undefined); // the reader below gets the same error
  const reader = inflate.readable.getReader();
  let at = 0;
  try {
    for (;;) {
      const { done, value } = (await reader.read()) as { done: boolean; value?: Uint8Array };
      if (done || !value) break;
      if (value.length > size - at) throw damaged("a block is longer than its rows");
      out.set(value, at);
      at += value.length;
    }
    await written;
  } catch (cause) {
    await reader.cancel().catch(() => undefined); // ended by its error already
    throw cause instanceof AppError ? cause : damaged("a block is no deflate stream");
  }
  if (at !== size) throw damaged("a block is shorter than its rows");
  return out;
}

interface Filter {
  /** Bytes of a value. */
  readonly size: number;
  /** Values in a row. */
  readonly width: number;
  readonly shuffled: boolean;
  readonly delta: boolean;
}

function unfilter(filtered: Uint8Array, out: Uint8Array, { size, width, shuffled, delta }: Filter): void {
  if (!shuffled) {
    out.set(filtered);
    return;
  }
  const values = out.length / size;
  for (let plane = 0; plane < size; plane += 1) {
    for (let i = 0; i < values; i += 1) out[i * size + plane] = filtered[plane * values + i] as number;
  }
  if (delta) sumRows(out, size, width);
}

/** Adds to each value the one a row before it, as integers that wrap around: byte by byte with a carry. */
function sumRows(out: Uint8Array, size: number, width: number): void {
  const row = size * width;
  for (let at = row; at < out.length; at += size) {
    let carry = 0;
    for (let byte = at; byte < at + size; byte += 1) {
      const sum = (out[byte] as number) + (out[byte - row] as number) + carry;
      out[byte] = sum;
      carry = sum >> 8;
    }
  }
}
