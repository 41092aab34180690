import type { Command } from "commander";
import type { Perform } from "../analyze/command.ts";
import type { RawPlantOptions } from "./options.ts";

export function addPlant(program: Command, perform: Perform): void {
  program
    .command("plant")
    .description("grow a plant or a canopy and write it as a mesh")
    .argument("<species>", "id of a species, such as bean, maize or apple; an unknown one lists all")
    .requiredOption(
      "--out <file>",
      "mesh file to write: .glb (textures inside), .obj (with .mtl and .png files) or .ply",
    )
    .option("--age <days>", "age of the plants (default 30)")
    .option("--seed <number>", "the same seed grows the same plant (default: a drawn one, which is printed)")
    .option("--canopy <counts>", "a grid of plants along x and y, such as 5x5")
    .option("--spacing <metres>", "canopy: distance between plants, such as 0.5, or 0.75x0.2 for x and y (default 0.5)")
    .option("--picture <file>", "side view as PNG, in the folder of the mesh")
    .option("--picture-size <pixels>", "longest side of the picture (default 1400)")
    .option("--force", "replace files of an earlier run")
    .option("--json", "write one JSON document to stdout instead of the table")
    .addHelpText("after", EXAMPLES)
    .action((species: string, raw: RawPlantOptions) =>
      perform(async (deps) => {
        const { checkedPlant } = await import("./options.ts");
        const { growMesh } = await import("./plant.ts");
        await growMesh(species, checkedPlant(raw), deps);
      }),
    );
}

const EXAMPLES = `
Examples:
  npm start -- plant bean --age 60 --seed 1 --out bean.glb --picture bean.png
  npm start -- plant maize --age 80 --canopy 5x5 --spacing 0.75x0.2 --out maize.obj
  npm start -- plant apple --age 500 --out apple.ply --force`;
