import type { Part } from "../run/inputs.ts";

const systemOf = (part: Part): number | null => (part.kind === "cloud" ? (part.tail.crs_epsg ?? null) : null);
const named = (epsg: number | null) => (epsg === null ? "without a coordinate system" : `EPSG:${epsg}`);

/** What the moved file says of its coordinate system, where the fixed part has another one. */
export function systemWarnings(moving: Part, fixed: Part): string[] {
  const [own, its] = [systemOf(moving), systemOf(fixed)];
  if (moving.kind !== "cloud" || own === its) return [];
  const stated =
    own === null
      ? "The moved file states no coordinate system"
      : `The moved file still states EPSG:${own}, the system of ${moving.file.name} before it was moved`;
  return [
    `${stated}. Its coordinates are now those of ${fixed.file.name} (${named(its)}): tell the programs that read it.`,
  ];
}
