import type { Command } from "commander";
import type { Perform } from "../analyze/command.ts";
import { UP_OPTION } from "../analyze/up-option.ts";
import type { RawQsmOptions } from "./options.ts";

export function addQsm(program: Command, perform: Perform): void {
  program
    .command("qsm")
    .description("model the wood of one tree as connected cylinders; write tables, pictures, a mesh and a report")
    .argument("<cloud>", "point cloud file of one tree without ground and, where possible, without leaves")
    .requiredOption("--out <folder>", "folder for the results, created if missing")
    .option(
      "--species-twig <mm>",
      "radius of twigs of this year, measured for the species (default 4.23; of plants below 2.5 m less, in proportion)",
    )
    .option("--radius-model <name>", "tapered (default) or isotonic")
    .option("--no-align", "leave scans that show the tree at different places, as in wind, as they are")
    .option("--leaves [picture]", "put leaves on the youngest growth, AppleLeaf.png or another picture of the service")
    .option("--leaf-size <m>", "length of a leaf (default 0.08)")
    .option("--leaf-spacing <m>", "distance of leaves along a shoot (default 0.05)")
    .option("--units <unit>", "unit of the coordinates: m, km, cm, mm, ft, ftUS, in")
    .option(...UP_OPTION)
    .option("--columns <legend>", 'columns of a text file, such as "x y z"')
    .option("--picture-size <pixels>", "longest side of a picture without its axes (default 900)")
    .option("--force", "replace the report of an earlier run in the folder")
    .option("--json", "write one JSON document to stdout instead of the table")
    .addHelpText("after", EXAMPLES)
    .action((cloud: string, raw: RawQsmOptions) =>
      perform(async (deps) => {
        const { checkedQsm } = await import("./options.ts");
        const { modelTreeFile } = await import("./qsm.ts");
        await modelTreeFile(cloud, checkedQsm(raw), deps);
      }),
    );
}

const EXAMPLES = `
Examples:
  npm start -- qsm tree.las --out model
  npm start -- qsm oak.laz --out model --species-twig 2.1
  npm start -- qsm apple.las --out model --leaves --leaf-size 0.07`;
