import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type AttributeArray, decodeRecords } from "../../../shared/octree/point-records.ts";
import { parseMetadata } from "../../../shared/octree/potree2-metadata.ts";

/** Every point of an octree in the cache, file order: positions and the attributes asked for. */
export function octreeRecords(root: string, id: string, names: readonly string[] = []) {
  const folder = join(root, id);
  const metadata = parseMetadata(readFileSync(join(folder, "metadata.json"), "utf8"));
  return decodeRecords(new Uint8Array(readFileSync(join(folder, "octree.bin"))), metadata, names);
}

/** Positions of an octree, rounded to a micrometre: integer steps times a decimal scale leave dust in the last digit. */
export function octreePoints(root: string, id: string): number[][] {
  const { position, point_count } = octreeRecords(root, id);
  const round = (value: number) => Math.round(value * 1e6) / 1e6 + 0;
  return Array.from({ length: point_count }, (_, i) => Array.from(position.subarray(3 * i, 3 * i + 3), round));
}

/** One attribute of an octree as numbers, sorted. */
export function octreeValues(root: string, id: string, name: string): number[] {
  const values: AttributeArray | undefined = octreeRecords(root, id, [name]).attributes.get(name);
  if (!values) throw new Error(`octree ${id} has no attribute ${name}`);
  return Array.from(values as ArrayLike<number | bigint>, Number).sort((a, b) => a - b);
}
