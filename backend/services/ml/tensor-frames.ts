import { MAX_NETWORK_FRAME_BYTES, MAX_NETWORK_HEADER_BYTES } from "../../../shared/limits.ts";

export type TensorType = "float32" | "int64" | "uint8";

export interface Tensor {
  readonly name: string;
  readonly type: TensorType;
  readonly dims: readonly number[];
  readonly data: ArrayBuffer;
}

/** A message between the service and the process of a network. */
export interface NetworkFrame {
  readonly kind: string;
  readonly fields: Readonly<Record<string, unknown>>;
  readonly tensors: readonly Tensor[];
}

/**
 * | offset | size | meaning |
 * |---|---|---|
 * | 0 | 4 | bytes of the header, u32 little-endian |
 * | 4 | 4 | bytes of the tensors, u32 little-endian |
 * | 8 | h | header, JSON: kind, fields, and of each tensor name, type, dims and bytes |
 * | 8 + h | | the tensors, one after the other |
 */
export function encodeFrame({ kind, fields, tensors }: NetworkFrame): Uint8Array[] {
  const described = tensors.map(({ name, type, dims, data }) => ({ name, type, dims, bytes: data.byteLength }));
  const header = Buffer.from(JSON.stringify({ kind, fields, tensors: described }));
  const lengths = Buffer.alloc(8);
  lengths.writeUInt32LE(header.length, 0);
  lengths.writeUInt32LE(
    tensors.reduce((sum, { data }) => sum + data.byteLength, 0),
    4,
  );
  return [lengths, header, ...tensors.map(({ data }) => new Uint8Array(data))];
}

interface Described extends Omit<NetworkFrame, "tensors"> {
  readonly tensors: readonly (Omit<Tensor, "data"> & { readonly bytes: number })[];
}

/** Puts frames together from the pieces that a pipe delivers. Throws for lengths beyond the limits. */
export class FrameReader {
  #lengths = new Uint8Array(8);
  #body: Uint8Array | undefined;
  #filled = 0;
  #headerBytes = 0;

  /** The frames that `chunk` completes. */
  *push(chunk: Uint8Array): Generator<NetworkFrame> {
    let at = 0;
    for (;;) {
      const target = this.#body ?? this.#lengths;
      const part = chunk.subarray(at, at + target.length - this.#filled);
      target.set(part, this.#filled);
      at += part.length;
      this.#filled += part.length;
      if (this.#filled < target.length) return;
      this.#filled = 0;
      if (this.#body) {
        const body = this.#body;
        this.#body = undefined;
        yield decode(body, this.#headerBytes);
      } else {
        this.#open();
      }
    }
  }

  #open(): void {
    const view = new DataView(this.#lengths.buffer);
    const [header, tensors] = [view.getUint32(0, true), view.getUint32(4, true)];
    if (header > MAX_NETWORK_HEADER_BYTES || tensors > MAX_NETWORK_FRAME_BYTES)
      throw new RangeError(`a message of ${header} + ${tensors} bytes is too large`);
    this.#headerBytes = header;
    this.#body = new Uint8Array(header + tensors);
  }
}

function decode(body: Uint8Array, headerBytes: number): NetworkFrame {
  const text = Buffer.from(body.buffer, 0, headerBytes).toString("utf8");
  const { kind, fields, tensors } = JSON.parse(text) as Described;
  let at = headerBytes;
  const read = tensors.map(({ name, type, dims, bytes }) => {
    at += bytes;
    return { name, type, dims, data: body.slice(at - bytes, at).buffer as ArrayBuffer };
  });
  return { kind, fields, tensors: read };
}
