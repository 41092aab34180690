import type { Command } from "commander";
import type { Perform } from "../analyze/command.ts";
import type { RawLadOptions } from "./options.ts";

const collected = (value: string, before: readonly string[] = []) => [...before, value];

export function addLad(program: Command, perform: Perform): void {
  program
    .command("lad")
    .description(
      "invert the leaf area density of voxels from scans with misses; write profile, maps, tables and voxel files",
    )
    .argument("<scans...>", "point cloud files with misses (sky points), in one frame")
    .requiredOption("--out <folder>", "folder for the results, created if missing")
    .requiredOption("--voxel <metres>", "edge of a voxel")
    .option(
      "--origin <x,y,z>",
      "scanner position of a scan that states none, metres, also of files in feet; once per scan, in their order",
      collected,
    )
    .option(
      "--g <value>",
      "leaf projection function: a number up to 1, a distribution of leaf inclinations, or triangles of the scans",
      "spherical",
    )
    .option("--lmax <metres>", "with --g triangles: longest edge of a triangle (default 0.1)")
    .option("--multi", "several returns per pulse: rows with one time stamp are one pulse")
    .option(
      "--leaf-intensity <value>",
      "with --multi: intensity of a leaf that fills the beam and faces it; returns then count by their energy",
    )
    .option("--box <numbers>", "min x,y,z, max x,y,z of the grid, metres (default: the hits of all scans)")
    .option("--level", "leave the columns level; without it they are raised onto the ground that the voxels hold")
    .option("--min-hits <count>", "beams that must reach a voxel (default 5)")
    .option("--leaf-width <metres>", "width of a leaf, for the intervals (default 0.05)")
    .option("--occlusion <metres>", "a voxel with less path of all beams together is occluded (default 100 edges)")
    .option("--wood", "leaves and wood apart, by the column wood_class of the scans (1 = wood, 2 = leaf)")
    .option("--views", "leaf area of the grid besides, from what several scanners see of the same places")
    .option("--range-noise <metres>", "with --views: standard deviation of the ranges (default 0)")
    .option("--fill", "estimate occluded voxels by kriging")
    .option("--units <unit>", "unit of the coordinates: m, km, cm, mm, ft, ftUS, in")
    .option("--columns <legend>", 'columns of text files, such as "x y z is_miss"')
    .option("--picture-size <pixels>", "longest side of a picture without its axes (default 1400)")
    .option("--force", "replace the report of an earlier run in the folder")
    .option("--json", "write one JSON document to stdout instead of the table")
    .addHelpText("after", EXAMPLES)
    .action((scans: string[], raw: RawLadOptions) =>
      perform(async (deps) => {
        const { checkedLad } = await import("./options.ts");
        const { lad } = await import("./lad.ts");
        await lad(scans, checkedLad(raw), deps);
      }),
    );
}

const EXAMPLES = `
Examples:
  npm start -- lad north.ptx south.ptx --voxel 0.5 --out leaves
  npm start -- lad scan.csv --origin 0,0,1.5 --voxel 1 --g planophile --fill --out leaves`;
