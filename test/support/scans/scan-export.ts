import { mkdtempSync } from "node:fs";
import { join } from "node:path";
import { ScanExportTail } from "../../../shared/contract/scan-export.ts";
import { run, type TestApp } from "../app/app.ts";

/** What the tests of scan exports share. */

export const SCAN_EXPORT = "/api/scan/export-xml";

/** Three hits and a miss with colour, intensity, a clock and columns. */
export const SCAN_ROWS = [
  "x y z r255 g255 b255 intensity timestamp height target_index target_count is_miss",
  "1.25 0 1 255 0 51 0.5 1000000.5 0.25 0 2 0",
  "1.5 1 2 0 128 0 1 1000000.75 1.25 1 2 0",
  "2 2 3.123457 0 0 0 0 1000001 2 0 1 0",
  "900 0 900 0 0 0 0 1000002 0 0 1 1",
];

export const newFolder = (made: TestApp): string => mkdtempSync(join(made.folder, "bundle"));

/** The tail of an export, of a success or a failure. */
export async function scanExportTail(made: TestApp, request: object): Promise<ScanExportTail> {
  const { outcome } = await run(made, SCAN_EXPORT, request);
  if (outcome.kind === "json") return ScanExportTail.parse(outcome.value);
  if (outcome.kind === "failed") return ScanExportTail.parse(outcome.tail);
  throw new Error(`scan export: ${JSON.stringify(outcome)}`);
}

export const textOf = (tail: ScanExportTail, i: number): string =>
  Buffer.from(tail.files[i]?.data ?? "", "base64").toString("utf8");
export const tagOf = (xml: string, name: string): string | undefined =>
  new RegExp(`<${name}>([^<]*)</${name}>`).exec(xml)?.[1];
