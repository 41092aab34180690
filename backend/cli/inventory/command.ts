import type { Command } from "commander";
import type { Perform } from "../analyze/command.ts";
import { UP_OPTION } from "../analyze/up-option.ts";
import type { RawInventoryOptions } from "./options.ts";

export function addInventory(program: Command, perform: Perform): void {
  program
    .command("inventory")
    .description(
      "label ground and trees of a plot and measure every tree; write tree list, stem curves, stand table, crowns, pictures and the labelled cloud",
    )
    .argument("<cloud>", "point cloud file of a plot or of one tree: airborne, mobile or terrestrial")
    .requiredOption("--out <folder>", "folder for the results, created if missing")
    .option("--method <name>", "tree segmentation: auto, default or chm (without: chm for airborne clouds, else auto)")
    .option("--ground <method>", "auto, or las_classification: the ground that the file labels itself (without: auto)")
    .option("--scene <kind>", "airborne, plot or tree: how the cloud is taken (without: as its points look)")
    .option("--crown-width <metres>", "of method chm: about the width of the smaller crowns (default 2.5)")
    .option("--breast-height <metres>", "height of the diameter at breast height (default 1.3)")
    .option("--min-dbh <centimetres>", "smaller trees do not count in the stand table (default 5)")
    .option("--plot-area <m2>", "area of the plot for values per hectare (without: as far as the points show it)")
    .option("--biomass <equation>", "chave2014 or jenkins2003: biomass above the ground (without: none)")
    .option("--qsm", "model the wood of every tree: volumes, and biomass from them and the density of the wood")
    .option("--wood <method>", "tell wood from leaves before it is modelled: ml, sota, geometric or connectivity")
    .option("--wood-density <g/cm3>", "of chave2014 and --qsm (default 0.5)")
    .option("--jenkins-group <name>", "species group of jenkins2003 (default mixed_hardwood)")
    .option("--no-align", "leave scans that do not fit each other, and the drift of a carried scanner, as they are")
    .option("--scan-column <name>", "column with the numbers of scans (without: scan_index, or a usual name of it)")
    .option("--units <unit>", "unit of the coordinates: m, km, cm, mm, ft, ftUS, in")
    .option(...UP_OPTION)
    .option("--columns <legend>", 'columns of a text file, such as "x y z"')
    .option("--points <count>", "most points to draw (default 3000000)")
    .option("--picture-size <pixels>", "longest side of a picture without its axes (default 1400)")
    .option("--force", "replace the report of an earlier run in the folder")
    .option("--json", "write one JSON document to stdout instead of the table")
    .addHelpText("after", EXAMPLES)
    .action((cloud: string, raw: RawInventoryOptions) =>
      perform(async (deps) => {
        const { checkedInventory } = await import("./options.ts");
        const { inventory } = await import("./inventory.ts");
        await inventory(cloud, checkedInventory(raw), deps);
      }),
    );
}

const EXAMPLES = `
Examples:
  npm start -- inventory plot.laz --out trees
  npm start -- inventory plot.laz --qsm --wood ml --out trees
  npm start -- inventory flight.laz --method chm --out crowns`;
