import { resolve } from "node:path";
import { fileURLToPath } from "node:url";

/**
 * The files that the user opened the app with, as absolute paths: the words of its command line that are no options.
 * `programs` are the words before: 1 for a packaged app, 2 for Electron with the path of an app.
 */
export function openedFiles(argv: readonly string[], programs: number, folder: string): string[] {
  const words = argv.filter((word) => word !== "" && !word.startsWith("-")).slice(programs);
  return words.map((word) => pathOf(word) ?? resolve(folder, word));
}

/** Undefined for words that are no address of a file on this machine. */
function pathOf(word: string): string | undefined {
  if (!word.startsWith("file://")) return undefined;
  try {
    return fileURLToPath(word);
  } catch {
    return undefined; // the page says that there is no such file
  }
}

/** What a second start passes to the first; whatever else comes is no files. */
export function passedFiles(data: unknown): string[] {
  const files = (data as { files?: unknown } | null)?.files;
  return Array.isArray(files) ? files.filter((file): file is string => typeof file === "string") : [];
}
