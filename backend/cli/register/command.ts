import type { Command } from "commander";
import type { Perform } from "../analyze/command.ts";
import type { RawRegisterOptions } from "./options.ts";

export function addRegister(program: Command, perform: Perform): void {
  program
    .command("register")
    .description("move a cloud or mesh onto another one and write the motion, the moved file and a report")
    .argument("<moving>", "file to move: point cloud, or mesh (OBJ, STL, PLY with faces)")
    .argument("<fixed>", "file that stays where it is")
    .requiredOption("--out <folder>", "folder for the results, created if missing")
    .option("--method <method>", "gicp (plane to plane), plane (point to plane) or point (point to point)", "gicp")
    .option(
      "--initial <start>",
      "start: centroid (middle on middle), or auto (search all turns and shifts); by default centroid, and auto where the pose is in doubt",
    )
    .option("--max-distance <metres>", "never match points farther apart (default: 5 % of the size of the fixed file)")
    .option("--iterations <count>", "most iterations (default 100)")
    .option("--format <format>", "format of the moved file (default: that of the moving file)")
    .option("--units <unit>", "unit of the clouds' coordinates: m, km, cm, mm, ft, ftUS, in; meshes are in metres")
    .option("--columns <legend>", 'columns of text files, such as "x y z intensity"')
    .option("--points <count>", "largest number of points to draw (default 3000000)")
    .option("--picture-size <pixels>", "longest side of a picture without its axes (default 1400)")
    .option("--force", "replace the report of an earlier run in the folder")
    .option("--json", "write one JSON document to stdout instead of the table")
    .addHelpText("after", EXAMPLES)
    .action((moving: string, fixed: string, raw: RawRegisterOptions) =>
      perform(async (deps) => {
        const { checkedRegister } = await import("./options.ts");
        const { register } = await import("./register.ts");
        await register(moving, fixed, checkedRegister(raw), deps);
      }),
    );
}

const EXAMPLES = `
Examples:
  npm start -- register scan2.laz scan1.laz --out aligned
  npm start -- register tree_b.laz tree_a.laz --initial auto --out aligned
  npm start -- register model.obj scan.e57 --method plane --max-distance 0.5 --out aligned
  npm start -- register after.stl before.stl --out aligned --force`;
