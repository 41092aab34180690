import { availableParallelism } from "node:os";
import { BLOCK_BYTES } from "../../../shared/limits.ts";
import type { Job } from "../../jobs/job.ts";
import type { NativeColumn } from "../../native/core/handles.ts";
import { chooseFilter, columnBlocks, columnHeader, type FilterChoice } from "../../native/files/archive.ts";

/** Blocks that are compressed at once, at least; each takes 8 MiB. */
const MIN_WINDOW = 2;
const MAX_WINDOW = 4;
/** Size of the pieces in which compressed blocks are copied out. */
const PIECE = BLOCK_BYTES / 8;

/** A column on its way into a project. */
export interface ColumnMember {
  /** Without extension. */
  readonly name: string;
  /** Written as boolean: a u8 column of zeros and ones. */
  readonly isBool: boolean;
  /** Size of the column, for progress, bytes. */
  readonly bytes: number;
  /** Known in advance for columns of the session. */
  readonly choice?: FilterChoice;
  /** The column, and what to call when it is written. */
  open(): Promise<{ readonly column: NativeColumn; close(): void }>;
}

/**
 * The column file of a member, in pieces. The next blocks are compressed while the last ones are written. `written` is
 * called with the raw bytes done.
 */
export async function* columnFile(
  member: ColumnMember,
  job: Job,
  written: (bytes: number) => void,
): AsyncGenerator<Buffer> {
  const { column, close } = await member.open();
  let next: Promise<NativeColumn> | undefined;
  try {
    const { filter } = member.choice ?? (await job.track(() => chooseFilter(column)));
    const { bytes, blocks } = columnHeader(column, filter, member.isBool);
    yield Buffer.from(bytes);
    const window = Math.min(MAX_WINDOW, Math.max(MIN_WINDOW, availableParallelism()));
    const compress = (first: number) => {
      const count = Math.min(window, blocks - first);
      const started = count > 0 ? job.track(() => columnBlocks(column, filter, first, count)) : undefined;
      started?.catch(() => undefined); // awaited below
      return started;
    };
    next = compress(0);
    for (let first = 0; next; ) {
      const packed = await next;
      first += window;
      next = compress(first);
      try {
        yield* pieces(packed);
      } finally {
        packed.release();
      }
      written(Math.min(column.bytes, first * BLOCK_BYTES));
    }
  } finally {
    (await next?.catch(() => undefined))?.release();
    close();
  }
}

function* pieces(column: NativeColumn): Generator<Buffer> {
  for (let at = 0; at < column.bytes; at += PIECE) {
    const piece = Buffer.allocUnsafeSlow(Math.min(PIECE, column.bytes - at));
    column.readInto(piece, at);
    yield piece;
  }
}
