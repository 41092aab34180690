import { existsSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { DATA } from "./data-folder.ts";

/** A scan of the test data when it is there, else a message on the console and undefined. */
export function testScan(path: string): string | undefined {
  const file = join(DATA, path);
  if (existsSync(file)) return file;
  console.log(`test data: ${path} is not there (APP_TEST_DATA); a generated cloud takes its place`);
  return undefined;
}

/** Columns of `writeSpiral`, as an ascii_format. */
export const SPIRAL_FORMAT = "x y z r255 g255 b255";

/**
 * Writes a text cloud, metres and colors: points on a spiral around a trunk, 10 m high, red in its lower half and green
 * above. Returns the number of points.
 */
export async function writeSpiral(file: string, count: number): Promise<number> {
  const rows: string[] = [];
  for (let i = 0; i < count; i += 1) {
    const turn = i * 2.399963; // golden angle, so that no two points coincide
    const radius = 0.5 + 2 * Math.sqrt(i / count);
    const at = [radius * Math.cos(turn), radius * Math.sin(turn), (10 * i) / count];
    rows.push(`${at.map((value) => value.toFixed(4)).join(" ")} ${i < count / 2 ? "255 0 0" : "0 255 0"}`);
  }
  await writeFile(file, `${rows.join("\n")}\n`);
  return count;
}
