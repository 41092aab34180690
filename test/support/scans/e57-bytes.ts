/** A field of a scan: doubles, or bytes (Integer 0..255). */
export interface E57FieldValues {
  readonly name: string;
  readonly type: "f64" | "u8";
  readonly values: readonly number[];
}
export interface E57ScanValues {
  readonly fields: readonly E57FieldValues[];
  /** Further elements of the scan: name, pose, bounds. */
  readonly xml?: string;
  /** Points the XML claims; default: as many as there are. */
  readonly declared?: string;
}

const PAGE = 1024;
const PAYLOAD = 1020;

/** An E57 1.0 file (ASTM E2807-11) of small scans. */
export function e57Bytes(scans: readonly E57ScanValues[], rootXml = "", prolog = '<?xml version="1.0"?>'): Buffer {
  const sections: Buffer[] = [Buffer.alloc(48)];
  const at = () => sections.reduce((sum, part) => sum + part.length, 0);
  let xml = `${prolog}<e57Root type="Structure" xmlns="http://www.astm.org/COMMIT/E57/2010-e57-v1.0"><data3D type="Vector">`;
  for (const { fields, xml: more = "", declared } of scans) {
    const begin = at();
    sections.push(section(fields, begin));
    const prototype = fields.map(
      ({ name, type }) => `<${name} ${type === "f64" ? 'type="Float"' : 'type="Integer" minimum="0" maximum="255"'}/>`,
    );
    const count = declared ?? String(fields[0]?.values.length ?? 0);
    xml += `<vectorChild type="Structure">${more}<points type="CompressedVector" fileOffset="${physical(begin)}" recordCount="${count}"><prototype type="Structure">${prototype.join("")}</prototype><codecs type="Vector"/></points></vectorChild>`;
  }
  const text = Buffer.from(`${xml}</data3D>${rootXml}</e57Root>`);
  const xmlAt = at();
  const body = Buffer.concat([...sections, text]);
  body.write("ASTM-E57", 0, "latin1");
  body.writeUInt32LE(1, 8);
  body.writeBigUInt64LE(BigInt(Math.ceil(body.length / PAYLOAD) * PAGE), 16);
  body.writeBigUInt64LE(BigInt(physical(xmlAt)), 24);
  body.writeBigUInt64LE(BigInt(text.length), 32);
  body.writeBigUInt64LE(BigInt(PAGE), 40);
  return paged(body);
}

/** x, y, z and whatever else, one row a point. */
export function e57Points(points: readonly (readonly [number, number, number])[], xml = ""): E57ScanValues {
  const axis = (k: 0 | 1 | 2) => points.map((point) => point[k]);
  return {
    xml,
    fields: [
      { name: "cartesianX", type: "f64", values: axis(0) },
      { name: "cartesianY", type: "f64", values: axis(1) },
      { name: "cartesianZ", type: "f64", values: axis(2) },
    ],
  };
}

const numbers = (parts: Readonly<Record<string, number | string>>) =>
  Object.entries(parts)
    .map(([name, value]) => `<${name} type="Float">${value}</${name}>`)
    .join("");

/** A pose at `t`, turned left about the vertical by `heading` radians. */
export const e57Pose = ([x, y, z]: readonly [number | string, number, number], heading = 0): string =>
  `<pose type="Structure"><rotation type="Structure">${numbers({ w: Math.cos(heading / 2), x: 0, y: 0, z: Math.sin(heading / 2) })}</rotation><translation type="Structure">${numbers({ x, y, z })}</translation></pose>`;

export const e57Element = (name: string, parts: Readonly<Record<string, number | string>>): string =>
  `<${name} type="Structure">${numbers(parts)}</${name}>`;

const physical = (logical: number) => Math.floor(logical / PAYLOAD) * PAGE + (logical % PAYLOAD);

/** Rows of a packet: with 8 fields of doubles it stays below 64 KiB. */
const PACKET_ROWS = 1000;

function packet(fields: readonly E57FieldValues[], first: number): Buffer {
  const streams = fields.map(({ type, values }) => {
    const rows = values.slice(first, first + PACKET_ROWS);
    return type === "f64" ? Buffer.from(new Float64Array(rows).buffer) : Buffer.from([...rows]);
  });
  const lengths = Buffer.alloc(2 * streams.length);
  for (const [i, stream] of streams.entries()) lengths.writeUInt16LE(stream.length, 2 * i);
  const used = 6 + lengths.length + streams.reduce((sum, stream) => sum + stream.length, 0);
  const padded = Math.ceil(used / 4) * 4;
  const head = Buffer.alloc(6);
  head.writeUInt8(1, 0);
  head.writeUInt16LE(padded - 1, 2);
  head.writeUInt16LE(streams.length, 4);
  return Buffer.concat([head, lengths, ...streams, Buffer.alloc(padded - used)]);
}

function section(fields: readonly E57FieldValues[], begin: number): Buffer {
  const rows = Math.max(1, ...fields.map(({ values }) => values.length));
  const packets = Array.from({ length: Math.ceil(rows / PACKET_ROWS) }, (_, i) => packet(fields, PACKET_ROWS * i));
  const header = Buffer.alloc(32);
  header.writeUInt8(1, 0);
  header.writeBigUInt64LE(BigInt(32 + packets.reduce((sum, { length }) => sum + length, 0)), 8);
  header.writeBigUInt64LE(BigInt(physical(begin + 32)), 16);
  return Buffer.concat([header, ...packets]);
}

function paged(logical: Buffer): Buffer {
  const pages: Buffer[] = [];
  for (let at = 0; at < logical.length; at += PAYLOAD) {
    const page = Buffer.alloc(PAGE);
    logical.copy(page, 0, at, Math.min(at + PAYLOAD, logical.length));
    page.writeUInt32BE(crc32c(page.subarray(0, PAYLOAD)), PAYLOAD);
    pages.push(page);
  }
  return Buffer.concat(pages);
}

/** A file whose pages have the right checksums again, after a change. */
export function sealed(file: Buffer): Buffer {
  const pages = Buffer.from(file);
  for (let at = 0; at + PAGE <= pages.length; at += PAGE) {
    pages.writeUInt32BE(crc32c(pages.subarray(at, at + PAYLOAD)), at + PAYLOAD);
  }
  return pages;
}

/** CRC-32C (Castagnoli), bit by bit. */
function crc32c(bytes: Buffer): number {
  let crc = ~0;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit += 1) crc = (crc >>> 1) ^ (crc & 1 ? 0x82f63b78 : 0);
  }
  return ~crc >>> 0;
}
