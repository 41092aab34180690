import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

const SCRIPT = fileURLToPath(new URL("../python/read_result.py", import.meta.url));
const PYTHON = ["/usr/bin/python3", "/usr/local/bin/python3"].find(existsSync);
/** Whether result files can be read back: python3, with its standard library. */
export const canReadResults = PYTHON !== undefined;

export type ReadCell = string | number | null;
export type ReadWorkbook = Readonly<Record<string, { rows: ReadCell[][]; bold: number[] }>>;

/** The sheets of a workbook, or the rows of a csv file. */
export function readResult<T>(file: Uint8Array): T {
  const { status, stdout, stderr } = spawnSync(PYTHON ?? "python3", ["-W", "error", SCRIPT], {
    input: file,
    maxBuffer: 1 << 28,
  });
  if (status !== 0) throw new Error(`the file cannot be read: ${stderr}`);
  return JSON.parse(stdout.toString()) as T;
}
