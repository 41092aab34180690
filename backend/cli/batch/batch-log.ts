import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { PLACES } from "./folders.ts";

/** The last line of a job's log: why it failed. */
export async function lastLine(root: string, job: string): Promise<string> {
  const text = await readFile(join(root, PLACES.log(job)), "utf8").catch(() => "");
  const lines = text.split("\n").filter((line) => line.trim() !== "" && !/^\s+at /.test(line)); // no stack of a bug
  return lines.at(-1)?.trim() ?? "it wrote no log: the job did not start, or was killed";
}

const MEASURE = "measure";

/** Why jobs failed: of the first tile without a result or, if no tile began, of the job that all tiles wait for. */
export async function firstReason(root: string, [first]: readonly string[]): Promise<string> {
  if (first === undefined) return "all tiles have a result, but the merge or a cloud failed";
  const hasLog = (name: string) => existsSync(join(root, PLACES.log(name)));
  const job = !hasLog(first) && hasLog(MEASURE) ? MEASURE : first;
  return `${job}: ${await lastLine(root, job)}`;
}
