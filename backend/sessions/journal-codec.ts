import { crc32 } from "node:zlib";
import { AppError } from "../../shared/errors.ts";
import { MAX_JOURNAL_RECORD_BYTES } from "../../shared/limits.ts";
import { type JournalRecord, parseRecord } from "./journal-records.ts";

/*
 * The journal of one session: an append-only file of records, little-endian.
 *
 * | offset | size | type | meaning |
 * |---|---|---|---|
 * | 0 | 4 | u32 | byte length of the payload |
 * | 4 | 4 | u32 | CRC-32 of the payload |
 * | 8 | length | UTF-8 | JSON: one JournalRecord |
 *
 * The first record is `create`. A record at the end that is cut short or whose checksum differs was never acknowledged
 * (a torn tail), unless the mark beside the journal counts its bytes. A bad record with complete ones behind it is damage.
 *
 * The mark, 16 bytes, is written after each flush: where the flushed records end, and of which journal.
 *
 * | offset | size | type | meaning |
 * |---|---|---|---|
 * | 0 | 8 | u64 | byte length of the flushed records |
 * | 8 | 4 | u32 | checksum field of the first record |
 * | 12 | 4 | u32 | CRC-32 of bytes 0..11 |
 */
const HEAD_BYTES = 8;
const MARK_BYTES = 16;
/** How every payload begins. Text inside a payload cannot: its quotation marks are escaped. */
const PAYLOAD_START = '{"type":"';

/** Errors: invalid_argument if the record is larger than a restart reads. */
export function encodeRecord(record: JournalRecord): Buffer {
  const payload = Buffer.from(JSON.stringify(record));
  if (payload.length > MAX_JOURNAL_RECORD_BYTES) {
    throw new AppError(
      "invalid_argument",
      `The description of this change takes ${payload.length} bytes, but the session's journal holds at most ${MAX_JOURNAL_RECORD_BYTES} per change: send shorter names or fewer strokes at a time`,
    );
  }
  const head = Buffer.alloc(HEAD_BYTES);
  head.writeUInt32LE(payload.length, 0);
  head.writeUInt32LE(crc32(payload), 4);
  return Buffer.concat([head, payload]);
}

/** The payload of the record at an offset; undefined if it is cut short or its checksum differs. */
function payloadAt(bytes: Buffer, at: number): Buffer | undefined {
  if (at + HEAD_BYTES > bytes.length) return undefined;
  const length = bytes.readUInt32LE(at);
  if (length > MAX_JOURNAL_RECORD_BYTES || at + HEAD_BYTES + length > bytes.length) return undefined;
  const payload = bytes.subarray(at + HEAD_BYTES, at + HEAD_BYTES + length);
  return crc32(payload) === bytes.readUInt32LE(at + 4) ? payload : undefined;
}

export interface DecodedJournal {
  readonly records: JournalRecord[];
  /** Where each of the records ends. */
  readonly ends: number[];
  /** Bytes of the valid records; what follows is a torn tail, or damage. */
  readonly length: number;
}

/** Reads records up to the first bad one. Never throws on damage. */
export function decodeJournal(bytes: Buffer): DecodedJournal {
  const records: JournalRecord[] = [];
  const ends: number[] = [];
  let at = 0;
  for (;;) {
    const payload = payloadAt(bytes, at);
    const record = payload && parseRecord(payload);
    if (!payload || !record) return { records, ends, length: at };
    at += HEAD_BYTES + payload.length;
    records.push(record);
    ends.push(at);
  }
}

/** The complete payloads behind the first bad record: with any, that record is damage and not a torn tail. */
export function payloadsBehind(bytes: Buffer, from: number): Buffer[] {
  const payloads: Buffer[] = [];
  let at = bytes.indexOf(PAYLOAD_START, from + HEAD_BYTES);
  while (at >= 0) {
    const payload = payloadAt(bytes, at - HEAD_BYTES);
    if (payload) payloads.push(payload);
    at = bytes.indexOf(PAYLOAD_START, at + (payload?.length || 1));
  }
  return payloads;
}

/** What tells journals apart: the checksum field of the first record. */
export const identityOf = (journal: Buffer): number => (journal.length >= HEAD_BYTES ? journal.readUInt32LE(4) : 0);

export function encodeMark(length: number, identity: number): Buffer {
  const bytes = Buffer.alloc(MARK_BYTES);
  bytes.writeBigUInt64LE(BigInt(length), 0);
  bytes.writeUInt32LE(identity, 8);
  bytes.writeUInt32LE(crc32(bytes.subarray(0, 12)), 12);
  return bytes;
}

/** The length in a mark; undefined if the mark is damaged or belongs to another journal. */
export function decodeMark(bytes: Buffer, identity: number): number | undefined {
  if (bytes.length !== MARK_BYTES || crc32(bytes.subarray(0, 12)) !== bytes.readUInt32LE(12)) return undefined;
  return bytes.readUInt32LE(8) === identity ? Number(bytes.readBigUInt64LE(0)) : undefined;
}
