// Scanned stands as files, for a second run and for other programs.
import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  readSync,
  renameSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Stand, StandOptions } from "./stand.ts";

/** Raised with every change of the generator that changes a stand. */
export const GENERATOR = 3;

const FOLDER = join(tmpdir(), `point-cloud-forest-${GENERATOR}`);
const MAGIC = "FOREST01";
const HEADER_BYTES = 24;

/** Where the files of a stand are kept, without their endings. */
export function standPath({ kind, seed, side, positions, every }: StandOptions): string {
  return join(FOLDER, `${kind}_${positions}_s${seed}_${side}m_e${every}`);
}

type Block = Float64Array | Float32Array | Uint32Array | Uint8Array;
const bytesOf = ({ buffer, byteOffset, byteLength }: Block) => new Uint8Array(buffer, byteOffset, byteLength);

/** A node buffer holds at most 2 GiB: large blocks go in parts. */
const PART_BYTES = 1 << 28;

/**
 * Blocks of one file, little endian.
 *
 * | offset | type | meaning |
 * |---|---|---|
 * | 0 | char[8] | FOREST01 |
 * | 8 | u64 | n points |
 * | 16 | u64 | c cylinders |
 * | 24 | f64[3 n] | x, y, z of each point, metres |
 * | | f64[8 c] | of each cylinder: start x, y, z, end x, y, z, radius at the start, at the end, metres |
 * | | u32[n] | tree id, 0 = ground |
 * | | u32[n] | cylinder, from 0; 4294967295 = leaf or ground |
 * | | f32[n] | height above the exact ground, metres |
 * | | u8[n] | 1 ground, 2 wood, 3 leaf |
 * | | u8[n] | number of the scan, from 0 |
 * | | u8[c] | order of the cylinder: 0 = stem, 1 = branches of it, .. |
 */
function blocksOf({ points, cylinders, orders }: Stand): Block[] {
  return [points.xyz, cylinders, points.tree, points.cylinder, points.height, points.organ, points.scan, orders];
}

/** Writes `path`.bin and `path`.json; the second appears last, when both are whole. */
export function writeStand(path: string, stand: Stand): void {
  mkdirSync(join(path, ".."), { recursive: true });
  const header = Buffer.alloc(HEADER_BYTES);
  header.write(MAGIC, "latin1");
  header.writeBigUInt64LE(BigInt(stand.points.tree.length), 8);
  header.writeBigUInt64LE(BigInt(stand.orders.length), 16);
  const file = openSync(`${path}.bin.${process.pid}`, "w");
  for (const block of [header, ...blocksOf(stand).map(bytesOf)]) {
    for (let at = 0; at < block.length; ) at += writeSync(file, block, at, Math.min(PART_BYTES, block.length - at));
  }
  closeSync(file);
  renameSync(`${path}.bin.${process.pid}`, `${path}.bin`);
  const { points, cylinders, orders, ...rest } = stand;
  writeFileSync(`${path}.json.${process.pid}`, JSON.stringify(rest));
  renameSync(`${path}.json.${process.pid}`, `${path}.json`);
}

/** The stand of two files; null if they are not there. */
export function readStand(path: string): Stand | null {
  if (!existsSync(`${path}.json`) || !existsSync(`${path}.bin`)) return null;
  const rest = JSON.parse(readFileSync(`${path}.json`, "utf8")) as Omit<Stand, "points" | "cylinders" | "orders">;
  const file = openSync(`${path}.bin`, "r");
  const header = Buffer.alloc(HEADER_BYTES);
  readSync(file, header);
  if (header.toString("latin1", 0, 8) !== MAGIC) throw new Error(`${path}.bin is no scanned stand`);
  const [n, c] = [Number(header.readBigUInt64LE(8)), Number(header.readBigUInt64LE(16))];
  const fill = <B extends Block>(block: B): B => {
    const bytes = bytesOf(block);
    for (let at = 0; at < bytes.length; ) {
      const read = readSync(file, bytes, at, Math.min(PART_BYTES, bytes.length - at), null);
      if (read === 0) throw new Error(`${path}.bin is cut`);
      at += read;
    }
    return block;
  };
  const xyz = fill(new Float64Array(3 * n));
  const cylinders = fill(new Float64Array(8 * c));
  const points = {
    xyz,
    tree: fill(new Uint32Array(n)),
    cylinder: fill(new Uint32Array(n)),
    height: fill(new Float32Array(n)),
    organ: fill(new Uint8Array(n)),
    scan: fill(new Uint8Array(n)),
  };
  const orders = fill(new Uint8Array(c));
  closeSync(file);
  return { ...rest, points, cylinders, orders };
}
