import type { Marker } from "../../../shared/wire/php1.ts";
import { type RunOutcome, RunStreamParser } from "../../../shared/wire/run-stream.ts";

/** Markers and outcome of a whole stream body. */
export function readRun(body: Uint8Array): { markers: Marker[]; outcome: RunOutcome } {
  const parser = new RunStreamParser();
  const markers = parser.push(body);
  return { markers, outcome: parser.finish() };
}
