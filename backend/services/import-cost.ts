import { stat } from "node:fs/promises";
import type { SourceKind } from "./source-file.ts";

/** Bytes of memory an import takes per byte of its file: columns, the octree's scratch and a second copy while columns
 * are converted. Text grows least per byte, packed binary formats most. */
const BYTES_PER_FILE_BYTE: Readonly<Record<SourceKind, number>> = { ascii: 2, ply: 4, pcd: 6, las: 3 };

/** Memory an import is admitted with. */
export async function importBytes(path: string, kind: SourceKind): Promise<number> {
  const { size } = await stat(path);
  return size * BYTES_PER_FILE_BYTE[kind];
}
