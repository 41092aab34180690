import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach } from "vitest";
import { folderOfTest } from "../run/folders.ts";
import type { ForestTree } from "../scans/forest.ts";
import { runReal } from "./real-command-line.ts";

/** Three trees of a plot. */
export const PLOT_TREES: readonly ForestTree[] = [
  { id: 1, x: 5, y: 6, dbh_m: 0.3 },
  { id: 2, x: 10, y: 6, dbh_m: 0.2 },
  { id: 3, x: 14, y: 8, dbh_m: 0.25 },
];

/** Only the coordinates: what a scanner gives. */
export const places = (rows: readonly string[]) => rows.map((row) => row.split(" ").slice(0, 3));

/** A folder for each test with the cloud of a plot, of which `inventory` writes its results. */
export function inventoryFolder(name: string) {
  let root = "";
  beforeEach(() => {
    root = folderOfTest(name);
  });
  const out = () => join(root, "out");
  const cloud = () => join(root, "plot.csv");
  return {
    out,
    write: (rows: readonly (readonly (string | number)[])[]) =>
      writeFileSync(cloud(), `${rows.map((row) => row.join(",")).join("\n")}\n`),
    inventory: (...more: string[]) => runReal(root, ["inventory", cloud(), "--out", out(), ...more]),
  };
}
