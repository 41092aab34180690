import type { Command } from "commander";
import type { Perform } from "../analyze/command.ts";
import type { RawScanOptions } from "./options.ts";

export function addScan(program: Command, perform: Perform): void {
  program
    .command("scan")
    .description("scan a mesh or a plant with synthetic scanners around it; write one cloud per position")
    .argument(
      "<object>",
      "mesh file (OBJ, STL, or PLY with faces; metres), or a plant as species:age, such as apple:400",
    )
    .requiredOption("--out <folder>", "folder for the results, created if missing")
    .option("--scanner <id>", "settings of a scanner, such as riegl_vz400i; an unknown one lists all (default generic)")
    .option("--positions <count>", "scanner positions on a circle round the object (default 1)")
    .option("--distance <metres>", "from the middle of the object (default: its radius and its height, at least 2)")
    .option("--height <metres>", "of the scanner above the foot of the object (default 1.5)")
    .option("--step <degrees>", "raster scanners: between rows and columns (default: that of the scanner)")
    .option("--seconds <seconds>", "scanners with a rotating head or prisms: how long they scan (default 1)")
    .option("--rays <count>", "rays across the beam of a pulse (default 100; 1 for a beam without width)")
    .option("--misses", "also write the pulses without a return, 1001 m away")
    .option("--seed <number>", "of the plant and of the noise (default 1)")
    .option(
      "--format <format>",
      "of the clouds: las, laz, ply, pcd, txt, csv (default las); e57 keeps the position of the scanner for lad",
    )
    .option("--force", "replace the report of an earlier run in the folder")
    .option("--json", "write one JSON document to stdout instead of the table")
    .addHelpText("after", EXAMPLES)
    .action((object: string, raw: RawScanOptions) =>
      perform(async (deps) => {
        const { checkedScan } = await import("./options.ts");
        const { scan } = await import("./scan.ts");
        await scan(object, checkedScan(object, raw), deps);
      }),
    );
}

const EXAMPLES = `
Examples:
  npm start -- scan apple:400 --scanner riegl_vz400i --positions 4 --step 0.1 --out scans
  npm start -- scan house.obj --scanner faro_focus_s350 --distance 20 --step 0.2 --format laz --out scans`;
