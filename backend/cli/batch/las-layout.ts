import type { FileHandle } from "node:fs/promises";
import { AppError } from "../../../shared/errors.ts";

/** A column of the Extra Bytes record. */
interface ExtraColumn {
  readonly name: string;
  /** Type code of table 24; 11 to 30, which LAS 1.4 R14 withdrew, are pairs and triples of types 1 to 10. */
  readonly type: number;
  /** First byte in a record. */
  readonly at: number;
  /** How values are stored: scale, offset and the value for no data; alike in columns whose bytes mean the same. */
  readonly coding: string;
}

/** Where the records of an uncompressed LAS file lie: ASPRS LAS 1.4 R15, sections 2.4 to 2.7. */
export interface LasLayout {
  /** Header and variable length records, to be written; its offset to the points is its length. */
  readonly head: Buffer;
  /** First byte of the points in this file. */
  readonly data: number;
  readonly stride: number;
  readonly count: number;
  readonly scale: readonly [number, number];
  readonly offset: readonly [number, number];
  readonly extras: readonly ExtraColumn[];
}

export const AT = {
  encoding: 6,
  minor: 25,
  header: 94,
  data: 96,
  records: 100,
  format: 104,
  stride: 105,
  legacy: 107,
  scale: 131,
  offset: 155,
  bounds: 179,
  extended: 235,
  count: 247,
};
const HEADER_14 = 375;
/** Bytes of the standard fields of point formats 0 to 10. */
const STANDARD = [20, 28, 26, 34, 57, 63, 30, 36, 38, 59, 67];
/** Bytes of extra dimension types 1 to 10. */
const TYPE_BYTES = [1, 1, 2, 2, 4, 4, 8, 8, 4, 8];
const EXTRA_RECORD = 192;
const EXTRA_ID = 4;
const RECORD_HEAD = 54;
const EXTENDED_HEAD = 60;
const MOST_PAYLOAD = 65_535;

/** Errors: invalid_file for what is no uncompressed LAS file. */
export async function readLayout(file: FileHandle, path: string): Promise<LasLayout> {
  const fixed = Buffer.alloc(HEADER_14);
  await file.read(fixed, 0, fixed.length, 0);
  const format = fixed[AT.format] ?? 255;
  if (fixed.toString("latin1", 0, 4) !== "LASF" || format > 10)
    throw new AppError("invalid_file", `${path} is no uncompressed LAS file`);
  const own = Buffer.alloc(fixed.readUInt32LE(AT.data));
  await file.read(own, 0, own.length, 0);
  const head = withRecords(own, await recordsBehind(file, own));
  const stride = head.readUInt16LE(AT.stride);
  const declared = head.readUInt32LE(AT.legacy) || (has64(head) ? Number(head.readBigUInt64LE(AT.count)) : 0);
  const { size } = await file.stat();
  const at = (start: number, axis: number) => head.readDoubleLE(start + 8 * axis);
  return {
    head,
    data: own.length,
    stride,
    count: Math.min(declared, Math.floor((size - own.length) / stride)),
    scale: [at(AT.scale, 0), at(AT.scale, 1)],
    offset: [at(AT.offset, 0), at(AT.offset, 1)],
    extras: extrasOf(head, STANDARD[format] ?? stride),
  };
}

export const has64 = (head: Buffer): boolean => (head[AT.minor] ?? 0) >= 4;

/** Records of a head: start and length with their own heads. */
function* recordsOf(head: Buffer): Generator<readonly [at: number, length: number]> {
  let at = head.readUInt16LE(AT.header);
  for (let k = head.readUInt32LE(AT.records); k > 0 && at + RECORD_HEAD <= head.length; k -= 1) {
    const length = RECORD_HEAD + head.readUInt16LE(at + 20);
    yield [at, length];
    at += length;
  }
}

/** Whether a record says what the points mean: the coordinate system, or the extra columns. */
const isNeeded = (user: string, id: number) => user === "LASF_Projection" || (user === "LASF_Spec" && id === EXTRA_ID);

const userOf = (record: Buffer) => record.toString("latin1", 2, 18).replace(/\0.*$/s, "");

/** What is needed of the extended records behind the points, as plain records: the points of a part end elsewhere. */
async function recordsBehind(file: FileHandle, head: Buffer): Promise<Buffer[]> {
  if (!has64(head) || head.readUInt16LE(AT.header) < HEADER_14) return [];
  const moved: Buffer[] = [];
  let at = Number(head.readBigUInt64LE(AT.extended));
  for (let k = head.readUInt32LE(AT.extended + 8); k > 0 && at > 0; k -= 1) {
    const record = Buffer.alloc(EXTENDED_HEAD);
    if ((await file.read(record, 0, EXTENDED_HEAD, at)).bytesRead < EXTENDED_HEAD) break;
    const length = Number(record.readBigUInt64LE(20));
    if (isNeeded(userOf(record), record.readUInt16LE(18)) && length <= MOST_PAYLOAD) {
      const plain = Buffer.alloc(RECORD_HEAD + length);
      record.copy(plain, 0, 0, 20);
      plain.writeUInt16LE(length, 20);
      record.copy(plain, 22, 28, EXTENDED_HEAD); // description
      await file.read(plain, RECORD_HEAD, length, at + EXTENDED_HEAD);
      moved.push(plain);
    }
    at += EXTENDED_HEAD + length;
  }
  return moved;
}

/** A head with more records, behind those that it has. */
function withRecords(own: Buffer, more: readonly Buffer[]): Buffer {
  if (more.length === 0) return own;
  let end = own.readUInt16LE(AT.header);
  for (const [at, length] of recordsOf(own)) end = at + length;
  const head = Buffer.concat([own.subarray(0, end), ...more]);
  head.writeUInt32LE(head.length, AT.data);
  head.writeUInt32LE(own.readUInt32LE(AT.records) + more.length, AT.records);
  return head;
}

/** Bytes of an extra column; `bytes` is what a column of type 0 declares. */
function widthOf(type: number, bytes: number): number {
  if (type === 0) return bytes;
  const values = Math.ceil(type / TYPE_BYTES.length);
  return values > 3 ? 0 : values * (TYPE_BYTES[(type - 1) % TYPE_BYTES.length] ?? 0);
}

/** Scale, offset and no-data value of an extra column, as far as its options say that they apply. */
function codingOf(record: Buffer, type: number): string {
  const options = record[3] ?? 0;
  if (type === 0) return `${options} bytes`;
  const triple = (start: number) => [0, 8, 16].map((at) => record.readDoubleLE(start + at));
  const none = options & 1 ? record.toString("hex", 40, 64) : "";
  const scale = options & 8 ? triple(112) : [1, 1, 1];
  const offset = options & 16 ? triple(136) : [0, 0, 0];
  const used = Math.ceil(type / TYPE_BYTES.length);
  return [none.slice(0, 16 * used), ...scale.slice(0, used), ...offset.slice(0, used)].join(" ");
}

function extrasOf(head: Buffer, first: number): ExtraColumn[] {
  const columns: ExtraColumn[] = [];
  for (const [at, length] of recordsOf(head)) {
    if (userOf(head.subarray(at, at + RECORD_HEAD)) !== "LASF_Spec" || head.readUInt16LE(at + 18) !== EXTRA_ID)
      continue;
    let place = first;
    for (let row = at + RECORD_HEAD; row + EXTRA_RECORD <= at + length; row += EXTRA_RECORD) {
      const type = head[row + 2] ?? 0;
      const name = head.toString("utf8", row + 4, row + 36).replace(/\0.*$/s, "");
      columns.push({ name, type, at: place, coding: codingOf(head.subarray(row, row + EXTRA_RECORD), type) });
      place += widthOf(type, head[row + 3] ?? 0);
    }
  }
  return columns;
}
