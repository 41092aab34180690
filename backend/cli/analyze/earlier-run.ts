import { open, stat } from "node:fs/promises";
import { basename, join } from "node:path";

/** Larger summaries are of no run of this program. */
const MOST_BYTES = 8 << 20;
/** Names in a note; the rest are counted. */
const NAMED = 5;

/** Every string of a JSON value, however deep. */
function* strings(value: unknown): Generator<string> {
  const open = [value];
  while (open.length > 0) {
    const next = open.pop();
    if (typeof next === "string") yield next;
    else if (typeof next === "object" && next !== null) open.push(...Object.values(next));
  }
}

/** The text of a file, unless it is larger than a summary can be. */
async function shortText(path: string): Promise<string> {
  const file = await open(path);
  try {
    const { size } = await file.stat();
    return size > MOST_BYTES ? "" : await file.readFile("utf8");
  } finally {
    await file.close();
  }
}

/** Names of the files that an earlier run wrote into `folder`, by its summary; none without one that can be read. */
export async function earlierFiles(folder: string, summary: string): Promise<string[]> {
  try {
    const { outputs } = JSON.parse(await shortText(join(folder, summary)));
    return [...new Set([...strings(outputs)].map((path) => basename(path)))];
  } catch {
    return []; // no summary, or not one of ours: nothing is known of an earlier run
  }
}

/** Those of `names` that are files in `folder`. */
export async function filesThere(folder: string, names: readonly string[]): Promise<string[]> {
  const isFile = await Promise.all(
    names.map((name) =>
      stat(join(folder, name)).then(
        (found) => found.isFile(),
        () => false,
      ),
    ),
  );
  return names.filter((_, i) => isFile[i]);
}

/** One line that names what an earlier run left beside the new results; empty for nothing. */
export function leftNote(left: readonly string[]): string {
  if (left.length === 0) return "";
  const more = left.length > NAMED ? ` and ${left.length - NAMED} more` : "";
  const [files, belong, them] =
    left.length === 1 ? ["file", "It does not belong", "it"] : ["files", "They do not belong", "them"];
  return `${left.length} ${files} of the earlier run ${left.length === 1 ? "is" : "are"} left in the folder: ${left.slice(0, NAMED).join(", ")}${more}. ${belong} to these results; delete ${them} if not needed.\n`;
}
