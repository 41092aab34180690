import { promisify } from "node:util";
import { crc32, deflateRaw } from "node:zlib";

const deflated = promisify(deflateRaw);

export interface ZipPart {
  /** Path inside the archive, ASCII. */
  readonly name: string;
  readonly content: Buffer;
}

const LOCAL_BYTES = 30;
const CENTRAL_BYTES = 46;
const END_BYTES = 22;
/** DEFLATE, for readers of version 2.0. */
const METHOD = 8;
const VERSION = 20;

/*
 * The fields that a local header (from offset 4) and a central one (from offset 6) have in common
 *
 * offset  bytes  meaning
 * 0       2      version needed to extract
 * 2       2      flags: 0
 * 4       2      method: 8 = DEFLATE
 * 6       4      MS-DOS time and date
 * 10      4      CRC-32 of the content
 * 14      4      compressed size
 * 18      4      size
 * 22      2      length of the name
 * 24      2      length of the extra field: 0
 */
function putCommon(header: Buffer, at: number, name: string, content: Buffer, packed: Buffer, time: number): void {
  header.writeUInt16LE(VERSION, at);
  header.writeUInt16LE(METHOD, at + 4);
  header.writeUInt32LE(time, at + 6);
  header.writeUInt32LE(crc32(content), at + 10);
  header.writeUInt32LE(packed.length, at + 14);
  header.writeUInt32LE(content.length, at + 18);
  header.writeUInt16LE(name.length, at + 22);
}

/** MS-DOS time (low half) and date (high half), local time; from 1980 on. */
function dosTime(now: Date): number {
  const date = ((now.getFullYear() - 1980) << 9) | ((now.getMonth() + 1) << 5) | now.getDate();
  const time = (now.getHours() << 11) | (now.getMinutes() << 5) | (now.getSeconds() >> 1);
  return date * 65_536 + time;
}

/** A ZIP archive of a few parts below 4 GiB in all (APPNOTE.TXT 6.3.10, without ZIP64). Compresses off the event loop. */
export async function zipParts(parts: readonly ZipPart[], now: Date): Promise<Buffer> {
  const time = dosTime(now);
  const locals: Buffer[] = [];
  const central: Buffer[] = [];
  let offset = 0;
  for (const { name, content } of parts) {
    const packed = await deflated(content);
    const local = Buffer.alloc(LOCAL_BYTES);
    local.write("PK\x03\x04", "latin1");
    putCommon(local, 4, name, content, packed, time);
    locals.push(local, Buffer.from(name), packed);
    const entry = Buffer.alloc(CENTRAL_BYTES);
    entry.write("PK\x01\x02", "latin1");
    entry.writeUInt16LE(VERSION, 4);
    putCommon(entry, 6, name, content, packed, time);
    entry.writeUInt32LE(offset, 42);
    central.push(entry, Buffer.from(name));
    offset += LOCAL_BYTES + name.length + packed.length;
  }
  const directory = Buffer.concat(central);
  const end = Buffer.alloc(END_BYTES);
  end.write("PK\x05\x06", "latin1");
  end.writeUInt16LE(parts.length, 8);
  end.writeUInt16LE(parts.length, 10);
  end.writeUInt32LE(directory.length, 12);
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...locals, directory, end]);
}
