import { unpack } from "./laz-perf.ts";

/** A LAS or LAZ file as its raw numbers, read without the code under test (LAS 1.4 R15 by the letter). */
export interface RawLas {
  readonly format: number;
  readonly count: number;
  readonly global_encoding: number;
  readonly points_by_return: readonly number[];
  readonly scale: readonly number[];
  readonly offset: readonly number[];
  /** Raw values of each field and extra dimension in file order, scale and no-data not applied. */
  readonly fields: ReadonlyMap<string, readonly (number | bigint)[]>;
  readonly waveform_packets: number;
}

type Read = (record: Buffer) => number | bigint;
const bits = (byte: number, shift: number, count: number): Read => {
  return (record) => (record.readUInt8(byte) >> shift) & ((1 << count) - 1);
};
const u8 = (at: number): Read => bits(at, 0, 8);
const u16 =
  (at: number): Read =>
  (record) =>
    record.readUInt16LE(at);

function legacyFields(): [string, Read][] {
  return [
    ["return_number", bits(14, 0, 3)],
    ["number_of_returns", bits(14, 3, 3)],
    ["scan_direction_flag", bits(14, 6, 1)],
    ["edge_of_flight_line", bits(14, 7, 1)],
    ["classification", bits(15, 0, 5)],
    ["synthetic", bits(15, 5, 1)],
    ["key_point", bits(15, 6, 1)],
    ["withheld", bits(15, 7, 1)],
    ["scan_angle_rank", (record) => record.readInt8(16)],
    ["user_data", u8(17)],
    ["point_source_id", u16(18)],
  ];
}

function modernFields(): [string, Read][] {
  return [
    ["return_number", bits(14, 0, 4)],
    ["number_of_returns", bits(14, 4, 4)],
    ["synthetic", bits(15, 0, 1)],
    ["key_point", bits(15, 1, 1)],
    ["withheld", bits(15, 2, 1)],
    ["overlap", bits(15, 3, 1)],
    ["scanner_channel", bits(15, 4, 2)],
    ["scan_direction_flag", bits(15, 6, 1)],
    ["edge_of_flight_line", bits(15, 7, 1)],
    ["classification", u8(16)],
    ["user_data", u8(17)],
    ["scan_angle", (record) => record.readInt16LE(18)],
    ["point_source_id", u16(20)],
  ];
}

/** First byte of GPS time, colours, near infrared and wave packet per point format; 0 = none. */
const PARTS = [
  [0, 0, 0, 0],
  [20, 0, 0, 0],
  [0, 20, 0, 0],
  [20, 28, 0, 0],
  [20, 0, 0, 28],
  [20, 28, 0, 34],
  [22, 0, 0, 0],
  [22, 30, 0, 0],
  [22, 30, 36, 0],
  [22, 0, 0, 30],
  [22, 30, 36, 38],
] as const;
const LENGTHS = [20, 28, 26, 34, 57, 63, 30, 36, 38, 59, 67];

function standardFields(format: number): [string, Read][] {
  const [time = 0, rgb = 0, nir = 0, wave = 0] = PARTS[format] ?? [];
  const xyz = ["X", "Y", "Z"].map((name, i): [string, Read] => [name, (record) => record.readInt32LE(4 * i)]);
  return [
    ...xyz,
    ["intensity", u16(12)],
    ...(format >= 6 ? modernFields() : legacyFields()),
    ...(time ? [["gps_time", (r: Buffer) => r.readBigUInt64LE(time)] as [string, Read]] : []), // its bits
    ...(rgb ? ["red", "green", "blue"].map((name, i): [string, Read] => [name, u16(rgb + 2 * i)]) : []),
    ...(nir ? [["nir", u16(nir)] as [string, Read]] : []),
    ...(wave ? waveFields(wave) : []),
  ];
}

function waveFields(at: number): [string, Read][] {
  return [
    ["wave_packet_index", u8(at)],
    ["wave_packet_offset", (record) => record.readBigUInt64LE(at + 1)],
    ["wave_packet_size", (record) => record.readUInt32LE(at + 9)],
    ...["return_point_location", "x_t", "y_t", "z_t"].map((name, i): [string, Read] => [
      name,
      (record) => record.readUInt32LE(at + 13 + 4 * i), // bits of the float
    ]),
  ];
}

const EXTRA_READERS: readonly [number, (record: Buffer, at: number) => number | bigint][] = [
  [1, (r, at) => r.readUInt8(at)],
  [1, (r, at) => r.readInt8(at)],
  [2, (r, at) => r.readUInt16LE(at)],
  [2, (r, at) => r.readInt16LE(at)],
  [4, (r, at) => r.readUInt32LE(at)],
  [4, (r, at) => r.readInt32LE(at)],
  [8, (r, at) => r.readBigUInt64LE(at)],
  [8, (r, at) => r.readBigInt64LE(at)],
  [4, (r, at) => r.readUInt32LE(at)], // bits of the float
  [8, (r, at) => r.readBigUInt64LE(at)],
];

/** Extra dimensions of one Extra Bytes record, from byte `at` of a point on. */
function extraFields(payload: Buffer, at: number): { fields: [string, Read][]; end: number } {
  const fields: [string, Read][] = [];
  let end = at;
  for (let d = 0; d + 192 <= payload.length; d += 192) {
    const text = payload.toString("latin1", d + 4, d + 36);
    const name = text.slice(0, Math.max(0, text.indexOf("\0"))) || text.replace(/\0+$/, "");
    const type = payload.readUInt8(d + 2);
    const elements = type === 0 ? payload.readUInt8(d + 3) : 1 + Math.floor((type - 1) / 10);
    const [bytes, read] = EXTRA_READERS[type === 0 ? 0 : (type - 1) % 10] ?? [1, () => 0];
    for (let i = 0; i < elements; i += 1) {
      const place = end;
      fields.push([elements > 1 ? `${name}[${i}]` : name, (record) => read(record, place)]);
      end += bytes;
    }
  }
  return { fields, end };
}

/** Payloads of the VLRs, then EVLRs, of one kind. */
function payloads(file: Buffer, user: string, id: number): Buffer[] {
  const found: Buffer[] = [];
  let at = file.readUInt16LE(94);
  const take = (bytes: number, header: number) => {
    const own = file.toString("latin1", at + 2, at + 18).replace(/\0.*$/s, "");
    if (own === user && file.readUInt16LE(at + 18) === id) found.push(file.subarray(at + header, at + header + bytes));
    at += header + bytes;
  };
  for (let n = file.readUInt32LE(100); n > 0; n -= 1) take(file.readUInt16LE(at + 20), 54);
  if (file.readUInt8(25) < 4) return found;
  at = Number(file.readBigUInt64LE(235));
  for (let n = file.readUInt32LE(243); n > 0; n -= 1) take(Number(file.readBigUInt64LE(at + 20)), 60);
  return found;
}

export async function readRawLas(file: Buffer): Promise<RawLas> {
  const compressed = (file.readUInt8(104) & 0xc0) !== 0;
  const format = file.readUInt8(104) & 0x3f;
  const bytes = file.readUInt16LE(105);
  const modern = file.readUInt8(25) >= 4;
  const declared = modern ? Number(file.readBigUInt64LE(247)) : file.readUInt32LE(107);
  const start = file.readUInt32LE(96);
  const records = compressed ? (await unpack(file)).records : file.subarray(start);
  const count = Math.min(declared, Math.floor(records.length / bytes));
  const extra = payloads(file, "LASF_Spec", 4);
  const fields = standardFields(format);
  let end = LENGTHS[format] ?? 0;
  for (const payload of extra) {
    const described = extraFields(payload, end);
    fields.push(...described.fields);
    end = described.end;
  }
  for (let at = end; at < bytes; at += 1) fields.push([`undescribed ${at - end}`, u8(at)]);
  const rows = Array.from({ length: count }, (_, i) => records.subarray(i * bytes, (i + 1) * bytes));
  const doubles = (at: number) => [0, 8, 16].map((step) => file.readDoubleLE(at + step));
  return {
    format,
    count,
    global_encoding: file.readUInt16LE(6),
    points_by_return: modern
      ? Array.from({ length: 15 }, (_, i) => Number(file.readBigUInt64LE(255 + 8 * i)))
      : Array.from({ length: 5 }, (_, i) => file.readUInt32LE(111 + 4 * i)),
    scale: doubles(131),
    offset: doubles(155),
    fields: new Map(fields.map(([name, read]) => [name, rows.map(read)])),
    waveform_packets: payloads(file, "LASF_Spec", 65535).length,
  };
}

/** A point record of a format with the given values; fields that the format lacks are left out. */
export function fieldBytes(
  format: number,
  given: Readonly<Record<string, number>>,
): { length: number; values: Buffer } {
  const length = LENGTHS[format] ?? 0;
  const values = Buffer.alloc(length);
  const [time = 0, rgb = 0, nir = 0] = PARTS[format] ?? [];
  const value = (name: string) => given[name] ?? 0;
  const flags = (names: readonly string[]) => names.reduce((sum, name, i) => sum + (value(name) << i), 0);
  values.writeUInt16LE(value("intensity"), 12);
  if (format >= 6) {
    values.writeUInt8(value("return_number") | (value("number_of_returns") << 4), 14);
    const low = flags(["synthetic", "key_point", "withheld", "overlap"]) | (value("scanner_channel") << 4);
    values.writeUInt8(low | (value("scan_direction_flag") << 6) | (value("edge_of_flight_line") << 7), 15);
    values.writeUInt8(value("classification"), 16);
    values.writeUInt8(value("user_data"), 17);
    values.writeInt16LE(value("scan_angle"), 18);
    values.writeUInt16LE(value("point_source_id"), 20);
  } else {
    const returns = value("return_number") | (value("number_of_returns") << 3);
    values.writeUInt8(returns | (flags(["scan_direction_flag", "edge_of_flight_line"]) << 6), 14);
    values.writeUInt8(value("classification") | (flags(["synthetic", "key_point", "withheld"]) << 5), 15);
    values.writeInt8(value("scan_angle_rank"), 16);
    values.writeUInt8(value("user_data"), 17);
    values.writeUInt16LE(value("point_source_id"), 18);
  }
  if (time > 0) values.writeDoubleLE(value("gps_time"), time);
  for (const [i, channel] of ["red", "green", "blue"].entries())
    if (rgb > 0) values.writeUInt16LE(value(channel), rgb + 2 * i);
  if (nir > 0) values.writeUInt16LE(value("nir"), nir);
  return { length, values };
}
