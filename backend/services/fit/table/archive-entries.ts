import { inflateRawSync } from "node:zlib";
import { AppError } from "../../../../shared/errors.ts";

/*
 * What is read of a ZIP archive (APPNOTE 6.3.10; all little-endian)
 *
 * record                     offset  size  meaning
 * end of central directory   0       4     0x06054b50
 *                            10      2     number of entries
 *                            16      4     offset of the first central header
 * central header             0       4     0x02014b50
 *                            10      2     method: 0 stored, 8 deflate
 *                            20      4     bytes in the archive
 *                            28      2+2+2 lengths of name, extra field and comment, which follow at 46
 *                            42      4     offset of the local header
 * local header               26      2+2   lengths of name and extra field, which follow at 30; then the bytes
 */
const END = 0x06054b50;
const CENTRAL = 0x02014b50;
const END_BYTES = 22;
const LONGEST_COMMENT = 65_535;

const damaged = (name: string) => new AppError("invalid_file", `"${name}" is no workbook: its archive is damaged`);

/**
 * Entries of a small archive whose names `wanted` accepts, unpacked. Errors: invalid_file for a damaged archive, and one
 * whose wanted entries are larger than `most_bytes` together, whatever its headers say.
 */
export function archiveEntries(
  bytes: Buffer,
  name: string,
  { wanted, most_bytes }: { readonly wanted: (entry: string) => boolean; readonly most_bytes: number },
): Record<string, Uint8Array> {
  const entries: Record<string, Uint8Array> = Object.create(null);
  let left = most_bytes;
  try {
    const end = endOf(bytes, name);
    let at = bytes.readUInt32LE(end + 16);
    for (let count = bytes.readUInt16LE(end + 10); count > 0; --count) {
      if (bytes.readUInt32LE(at) !== CENTRAL) throw damaged(name);
      const lengths = [28, 30, 32].map((offset) => bytes.readUInt16LE(at + offset)) as [number, number, number];
      const entry = bytes.toString("utf8", at + 46, at + 46 + lengths[0]);
      if (wanted(entry)) {
        const unpacked = unpackedEntry(bytes, at, left);
        left -= unpacked.length;
        entries[entry] = unpacked;
      }
      at += 46 + lengths[0] + lengths[1] + lengths[2];
    }
  } catch (raw) {
    if (raw instanceof AppError) throw raw;
    if ((raw as { code?: unknown }).code === "ERR_BUFFER_TOO_LARGE") {
      throw new AppError(
        "invalid_file",
        `"${name}" holds more than ${most_bytes} bytes of cells; save the sheet as CSV, or only the columns of the model`,
      );
    }
    throw damaged(name); // an offset beyond the end, bytes that are no deflate stream
  }
  return entries;
}

function endOf(bytes: Buffer, name: string): number {
  const first = Math.max(0, bytes.length - END_BYTES - LONGEST_COMMENT);
  for (let at = bytes.length - END_BYTES; at >= first; --at) if (bytes.readUInt32LE(at) === END) return at;
  throw damaged(name);
}

function unpackedEntry(bytes: Buffer, central: number, most: number): Uint8Array {
  const method = bytes.readUInt16LE(central + 10);
  const size = bytes.readUInt32LE(central + 20);
  const local = bytes.readUInt32LE(central + 42);
  const from = local + 30 + bytes.readUInt16LE(local + 26) + bytes.readUInt16LE(local + 28);
  if (from + size > bytes.length) throw new RangeError("the entry ends beyond the archive");
  const packed = bytes.subarray(from, from + size);
  if (method === 8) return inflateRawSync(packed, { maxOutputLength: Math.max(most, 1) });
  if (method !== 0) throw new RangeError("an unknown compression");
  if (size > most) throw Object.assign(new RangeError("too large"), { code: "ERR_BUFFER_TOO_LARGE" });
  return packed;
}
