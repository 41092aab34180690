import type { PointSample } from "../drawing/point-sample.ts";
import { plainNumber } from "../drawing/round-steps.ts";
import type { Scene } from "../report/findings.ts";
import { extents } from "./scene.ts";

/** Higher trees stand in few forests on Earth. */
const TALL_M = 60;
/** Scans of single trees and things have points closer to each other. */
const SPARSE_M = 0.05;

const WAY_OUT =
  "the file does not say its unit. If its coordinates are feet, centimetres or millimetres, every length is wrong: give the unit with --units (m, cm, mm, ft, ftUS, in).";

interface Facts {
  readonly scene: Scene;
  readonly spacing_m: number | null;
  readonly units_stated: boolean;
}

/**
 * Warns of a tree or a thing without ground whose size or spacing is that of one in a smaller unit. Trees of plots and
 * land have the warnings of their heights.
 */
export function doubtfulSize(sample: PointSample, { scene, spacing_m, units_stated }: Facts): string[] {
  if (units_stated || (scene.kind !== "tree" && scene.kind !== "object")) return [];
  const height = extents(sample)[2];
  if (scene.kind === "tree" && height > TALL_M)
    return [`The tree is ${plainNumber(height, 0)} m high, as in few forests, and ${WAY_OUT}`];
  if (spacing_m === null || !(spacing_m > SPARSE_M)) return [];
  const cm = plainNumber(100 * spacing_m, 0);
  return [
    `The points are ${cm} cm apart, too far for a scan of ${scene.kind === "tree" ? "one tree" : "a thing or a room"}, and ${WAY_OUT}`,
  ];
}
