import { stat } from "node:fs/promises";
import { readLasHeader } from "../../native/files/readers.ts";
import type { SourceKind } from "./source.ts";

/** Bytes of memory that an import needs per byte of its file: columns, scratch of the octree and a second copy while
 * columns are converted. Lowest for text, highest for packed binary formats. */
const BYTES_PER_FILE_BYTE: Readonly<Record<SourceKind, number>> = {
  ascii: 2,
  ptx: 2,
  ply: 4,
  pcd: 6,
  las: 3,
  e57: 10,
};

/** Memory to admit an import with. For a compressed file, the size of its unpacked records counts. */
export async function importBytes(path: string, kind: SourceKind): Promise<number> {
  const { size } = await stat(path);
  const packed = size * BYTES_PER_FILE_BYTE[kind];
  if (kind !== "las") return packed;
  const header = await readLasHeader(path).promise.catch(() => undefined); // the read that follows reports the error
  if (!header?.compressed) return packed;
  return header.declared_point_count * header.record_bytes * BYTES_PER_FILE_BYTE.las;
}
