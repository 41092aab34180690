import type { Command } from "commander";
import type { Perform } from "../analyze/command.ts";
import type { RawDistanceOptions } from "./options.ts";

export function addDistance(program: Command, perform: Perform): void {
  program
    .command("distance")
    .description(
      "measure the distances from a cloud to a mesh; write statistics, pictures and the cloud with the distances",
    )
    .argument("<cloud>", "point cloud file")
    .argument("<mesh>", "mesh file: OBJ, STL, or PLY with faces; metres, in the frame of the cloud")
    .requiredOption("--out <folder>", "folder for the results, created if missing")
    .option("--signed", "negative distances inside the mesh, which must be closed")
    .option("--bands <metres>", "distances to count the points up to, such as 0.01,0.05")
    .option(
      "--format <format>",
      "format of the cloud with the distances: las, laz, ply, pcd, txt, csv (default: that of the cloud)",
    )
    .option("--units <unit>", "unit of the cloud's coordinates: m, km, cm, mm, ft, ftUS, in")
    .option("--columns <legend>", 'columns of a text file, such as "x y z intensity"')
    .option("--points <count>", "largest number of points to draw (default 3000000)")
    .option("--picture-size <pixels>", "longest side of a picture without its axes (default 1400)")
    .option("--force", "replace the report of an earlier run in the folder")
    .option("--json", "write one JSON document to stdout instead of the table")
    .addHelpText("after", EXAMPLES)
    .action((cloud: string, mesh: string, raw: RawDistanceOptions) =>
      perform(async (deps) => {
        const { checkedDistance } = await import("./options.ts");
        const { distance } = await import("./distance.ts");
        await distance(cloud, mesh, checkedDistance(raw), deps);
      }),
    );
}

const EXAMPLES = `
Examples:
  npm start -- distance scan.laz model.obj --out compared
  npm start -- distance scan.ply design.stl --signed --bands 0.002,0.01,0.05 --out compared`;
