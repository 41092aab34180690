import type { Part } from "../run/inputs.ts";
import { STATES_SYSTEM } from "./moved-file.ts";

const systemOf = (part: Part): number | null => (part.kind === "cloud" ? (part.tail.crs_epsg ?? null) : null);
const named = (epsg: number | null) => (epsg === null ? "no coordinate system" : `EPSG:${epsg}`);

/** What the moved file says of its coordinate system, where the fixed part has another one. */
export function systemWarnings(moving: Part, fixed: Part, format: string): string[] {
  const [own, its] = [systemOf(moving), systemOf(fixed)];
  if (moving.kind !== "cloud" || own === its) return [];
  const [from, onto] = [moving.file.name, fixed.file.name];
  return STATES_SYSTEM.has(format)
    ? [`The moved file states ${named(its)}, as ${onto} does; ${from} states ${named(own)}.`]
    : [
        `Coordinates of the moved file are those of ${onto} (${named(its)}), no longer those of ${from} (${named(own)}): tell the programs that read it.`,
      ];
}
