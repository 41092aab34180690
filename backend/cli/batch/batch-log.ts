import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { PLACES } from "./folders.ts";

/** The last line of a job's log: why it failed. */
export async function lastLine(root: string, job: string): Promise<string> {
  const text = await readFile(join(root, PLACES.log(job)), "utf8").catch(() => "");
  const lines = text.split("\n").filter((line) => line.trim() !== "" && !/^\s+at /.test(line)); // no stack of a bug
  return lines.at(-1)?.trim() ?? "it wrote no log: the job did not start, or was killed";
}
