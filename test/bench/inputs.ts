// The inputs: the synthetic plot in the formats that the jobs read. Made once.
import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { dataFolder, makeDataFolder } from "./folders.ts";
import { nativeJob, THREADS } from "./native.ts";
import { availableBytes } from "./process.ts";

export const ONE_MILLION = 1_000_000;
export const TEN_MILLION = 10_000_000;
export const FIFTY_MILLION = 50_000_000;

/** Paths of the plot with `count` points. Made once, checked by size; the text table is made where `text` asks for it. */
export async function plotFiles(count: number, text = false): Promise<{ readonly las: string; readonly txt: string }> {
  const label = `plot_${count / 1e6}M`;
  const files = { las: join(dataFolder, `${label}.las`), txt: join(dataFolder, `${label}.txt`) };
  const wanted = text ? [files.las, files.txt] : [files.las];
  await makeOnce(label, wanted, count, ["plot", String(count), ...wanted]);
  return files;
}

/** The plot with `count` points as E57 and as PTX. Made once, checked by size. */
export async function scanFiles(count: number): Promise<{ readonly e57: string; readonly ptx: string }> {
  const label = `scan_${count / 1e6}M`;
  const files = { e57: join(dataFolder, `${label}.e57`), ptx: join(dataFolder, `${label}.ptx`) };
  await makeOnce(label, [files.e57, files.ptx], 8 * count, ["scans", String(count), files.e57, files.ptx]);
  return files;
}

/** The 10M plot as LAZ, made once. */
export async function lazFile(): Promise<string> {
  const laz = join(dataFolder, "plot_10M.laz");
  const { las } = await plotFiles(TEN_MILLION);
  if (!existsSync(laz)) await nativeJob([], "write", las, laz, THREADS);
  return laz;
}

/** Runs a job of pc_bench unless the wanted files are there with the sizes that were noted when they were made. */
async function makeOnce(
  label: string,
  wanted: readonly string[],
  count: number,
  job: readonly string[],
): Promise<void> {
  makeDataFolder();
  const stamp = join(dataFolder, `${label}.json`);
  const known = (existsSync(stamp) ? JSON.parse(readFileSync(stamp, "utf8")) : {}) as Record<string, number>;
  if (wanted.every((path) => sizeOf(path) > 0 && known[kindOf(path)] === sizeOf(path))) return;
  const needed = count * 100; // the plot, its sort keys and its columns
  if (availableBytes() < needed) {
    throw new Error(`making ${label} needs ${toGib(needed)} GiB of free memory, ${toGib(availableBytes())} are free`);
  }
  console.error(`making ${label} (once)`);
  rmSync(stamp, { force: true });
  await nativeJob([], ...job);
  writeFileSync(stamp, JSON.stringify(Object.fromEntries(wanted.map((path) => [kindOf(path), sizeOf(path)]))));
}

const kindOf = (path: string) => path.slice(path.lastIndexOf(".") + 1);
const toGib = (bytes: number) => (bytes / 2 ** 30).toFixed(1);
const sizeOf = (path: string) => (existsSync(path) ? statSync(path).size : 0);
