import type { Command } from "commander";
import type { Perform } from "../analyze/command.ts";
import { UP_OPTION } from "../analyze/up-option.ts";
import type { RawSkeletonOptions } from "./options.ts";

export function addSkeleton(program: Command, perform: Perform): void {
  program
    .command("skeleton")
    .description("find the skeleton of a plant; write it as lines and tables, with pictures")
    .argument("<cloud>", "point cloud file of one plant without ground, z up")
    .requiredOption("--out <folder>", "folder for the results, created if missing")
    .option("--search-radius <metres>", 'longest link between points, or "auto" (default 0.05)')
    .option("--neighbors <count>", "nearest points that a point is linked to (default 20)")
    .option("--levels <count>", "number of level sets (default 60): more follow curves more closely")
    .option("--even-levels", "levels by the hops from the base instead of their square root")
    .option("--least-points <count>", "fewest points of a node (default 30)")
    .option("--least-share <share>", "fewest points of a node as a share of its parent's, 0 = any (default 0.1)")
    .option("--keep-outliers", "do not remove outliers first")
    .option("--centroids", "nodes at the centroids of their points instead of the axes of fitted cylinders")
    .option("--units <unit>", "unit of the cloud's coordinates: m, km, cm, mm, ft, ftUS, in; results are in metres")
    .option(...UP_OPTION)
    .option("--columns <legend>", 'columns of a text file, such as "x y z intensity"')
    .option("--points <count>", "largest number of points to draw (default 3000000)")
    .option("--picture-size <pixels>", "longest side of a picture without its axes (default 1400)")
    .option("--force", "replace the results of an earlier run in the folder")
    .option("--json", "write one JSON document to stdout instead of the table")
    .addHelpText("after", EXAMPLES)
    .action((cloud: string, raw: RawSkeletonOptions) =>
      perform(async (deps) => {
        const { checkedSkeleton } = await import("./options.ts");
        const { skeleton } = await import("./skeleton.ts");
        await skeleton(cloud, checkedSkeleton(raw), deps);
      }),
    );
}

const EXAMPLES = `
Examples:
  npm start -- skeleton tree.las --out skeleton
  npm start -- skeleton tree.laz --out skeleton --levels 300 --even-levels --least-points 5 --least-share 0`;
