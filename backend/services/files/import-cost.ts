import { stat } from "node:fs/promises";
import { readLasHeader } from "../../native/files/readers.ts";
import type { SourceKind } from "./source.ts";

/** Bytes of memory an import takes per byte of its file: columns, the octree's scratch and a second copy while columns
 * are converted. Text grows least per byte, packed binary formats most. */
const BYTES_PER_FILE_BYTE: Readonly<Record<SourceKind, number>> = {
  ascii: 2,
  ptx: 2,
  ply: 4,
  pcd: 6,
  las: 3,
  e57: 10,
};

/** Memory an import is admitted with. A compressed file is counted as the records it unpacks to. */
export async function importBytes(path: string, kind: SourceKind): Promise<number> {
  const { size } = await stat(path);
  const packed = size * BYTES_PER_FILE_BYTE[kind];
  if (kind !== "las") return packed;
  const header = await readLasHeader(path).promise.catch(() => undefined); // the read itself says what is wrong
  if (!header?.compressed) return packed;
  return header.declared_point_count * header.record_bytes * BYTES_PER_FILE_BYTE.las;
}
