import type { Command } from "commander";
import type { Perform } from "../analyze/command.ts";
import { UP_OPTION } from "../analyze/up-option.ts";
import type { RawWoodOptions } from "./options.ts";

export function addWood(program: Command, perform: Perform): void {
  program
    .command("wood")
    .description("tell wood from leaves; write pictures, counts, the area of the wood and the labelled cloud")
    .argument("<cloud>", "point cloud file of a tree or a plot without its ground")
    .requiredOption("--out <folder>", "folder for the results, created if missing")
    .option("--method <name>", "sota, connectivity, geometric or ml, a network (default sota)")
    .option("--model <id>", "network of --method ml (default: the bundled one)")
    .option("--wood-bias <probability>", "least probability of wood, 0 to 1: lower gives more wood (default 0.6)")
    .option("--units <unit>", "unit of the coordinates: m, km, cm, mm, ft, ftUS, in")
    .option(...UP_OPTION)
    .option("--columns <legend>", 'columns of a text file, such as "x y z"')
    .option("--points <count>", "most points to draw (default 3000000)")
    .option("--picture-size <pixels>", "longest side of a picture without its axes (default 1400)")
    .option("--force", "replace the results of an earlier run in the folder")
    .option("--json", "write one JSON document to stdout instead of the table")
    .addHelpText(
      "after",
      "\nExamples:\n  npm start -- wood tree.las --out wood\n  npm start -- wood tree.las --out wood --method ml",
    )
    .action((cloud: string, raw: RawWoodOptions) =>
      perform(async (deps) => {
        const { checkedWoodOptions } = await import("./options.ts");
        const { wood } = await import("./wood.ts");
        await wood(cloud, checkedWoodOptions(raw), deps);
      }),
    );
}
