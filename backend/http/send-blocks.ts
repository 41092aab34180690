import { SEND_BLOCK_BYTES } from "../../shared/limits.ts";

/** What an answer has not given to the socket yet; reply.raw is one. */
export interface SendQueue {
  /** Bytes, with those that the socket is writing. */
  readonly writableLength: number;
}

/** Of a block's successors two may wait in the stream and one in the queue. */
const KEPT = 4;

/**
 * Buffers for the blocks of one answer. A block that was KEPT blocks ago is given out again, since fresh ones are memory that
 * the garbage collector counts and looks for; but only while fewer than two whole blocks wait for the socket, which sends in
 * order: then the old block has left.
 */
export class SendBlocks {
  readonly #queue: SendQueue;
  readonly #kept: Buffer[] = [];
  #taken = 0;

  constructor(queue: SendQueue) {
    this.#queue = queue;
  }

  /** A block of `size` bytes of any content, at most SEND_BLOCK_BYTES. It belongs to the caller until it is sent. */
  take(size: number): Buffer {
    if (size !== SEND_BLOCK_BYTES) return Buffer.allocUnsafeSlow(size);
    const at = this.#taken % KEPT;
    this.#taken += 1;
    const old = this.#kept[at];
    if (old && this.#queue.writableLength < 2 * SEND_BLOCK_BYTES) return old;
    const block = Buffer.allocUnsafeSlow(size);
    this.#kept[at] = block;
    return block;
  }
}
