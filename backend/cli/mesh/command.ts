import type { Command } from "commander";
import type { Perform } from "../analyze/command.ts";
import type { RawMeshOptions } from "./options.ts";

export function addMesh(program: Command, perform: Perform): void {
  program
    .command("mesh")
    .description("make a triangle mesh of a point cloud and write it with a report")
    .argument("<cloud>", "point cloud file")
    .requiredOption(
      "--out <file>",
      "mesh file to write: .ply, .glb, .obj or .stl; the report goes to <name>_report beside it",
    )
    .option("--method <method>", "poisson, ball_pivoting, alpha_shape or delaunay", "poisson")
    .option("--depth <levels>", "poisson: levels of the octree, 1 to 12 (default 8): each halves the smallest detail")
    .option("--radii <metres>", "ball_pivoting: radii of the balls, such as 0.05,0.1 (default: from the point spacing)")
    .option(
      "--alpha <metres>",
      "alpha_shape: radius of the ball (default: twice the mean point spacing, more where gaps are wider)",
    )
    .option(
      "--normal-radius <metres>",
      "poisson, ball_pivoting: neighbours for a normal are at most this far away (default 0.1)",
    )
    .option("--normal-neighbors <count>", "poisson, ball_pivoting: most neighbours for a normal (default 30)")
    .option("--units <unit>", "unit of the cloud's coordinates: m, km, cm, mm, ft, ftUS, in; the mesh is in metres")
    .option("--columns <legend>", 'columns of a text file, such as "x y z intensity"')
    .option("--picture-size <pixels>", "longest side of a picture without its axes (default 1400)")
    .option("--force", "replace the mesh file and the report of an earlier run")
    .option("--json", "write one JSON document to stdout instead of the table")
    .addHelpText("after", EXAMPLES)
    .action((cloud: string, raw: RawMeshOptions) =>
      perform(async (deps) => {
        const { checkedMesh } = await import("./options.ts");
        const { makeMesh } = await import("./mesh.ts");
        await makeMesh(cloud, checkedMesh(raw), deps);
      }),
    );
}

const EXAMPLES = `
Examples:
  npm start -- mesh statue.laz --out statue.ply --depth 10
  npm start -- mesh room.e57 --method ball_pivoting --radii 0.02,0.05 --out room.glb
  npm start -- mesh terrain.las --method delaunay --out terrain.stl --force`;
