import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { PLACES } from "./folders.ts";

/** The last line of a job's log: why it failed. */
export async function lastLine(root: string, job: string): Promise<string> {
  const text = await readFile(join(root, PLACES.log(job)), "utf8").catch(() => "");
  return text.trim().split("\n").at(-1)?.trim() || "it wrote no log: the job did not start, or was killed";
}
