// `node scripts/train/make-crops.mjs FOLDER NAME FILE`: a labelled cloud (u64 n, f64 xyz (n, 3), u8 labels (n): 1 wood, 2 leaf) as
// crops, all of them.
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { ORGAN } from "./forest/stand.ts";
import { writeCrops } from "./wood-crops.ts";

const [folder, name, file] = process.argv.slice(2);
if (!folder || !name || !file) throw new Error("usage: make-crops.mjs FOLDER NAME FILE");
mkdirSync(folder, { recursive: true });
const bytes = readFileSync(file);
const count = Number(bytes.readBigUInt64LE(0));
const xyz = new Float64Array(bytes.buffer.slice(bytes.byteOffset + 8, bytes.byteOffset + 8 + 24 * count));
const labels = bytes.subarray(8 + 24 * count, 8 + 25 * count);
const organ = Uint8Array.from(labels, (label) => (label === 1 ? ORGAN.wood : ORGAN.leaf));
const options = { max_voxels: 65_536, inner_fraction: 0.9, keep: () => true, most: Number.POSITIVE_INFINITY };
const written = await writeCrops(join(folder, name), { xyz, organ, twig: new Uint8Array(count) }, options, { name });
console.log(`${name}: ${count} points, ${written} crops`);
