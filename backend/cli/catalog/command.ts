import type { Command } from "commander";
import type { Perform } from "../analyze/command.ts";
import type { CatalogOptions } from "./catalog.ts";

export function addCatalog(program: Command, perform: Perform): void {
  program
    .command("catalog")
    .description("read the headers of many LAS and LAZ files: overlaps, gaps, density, units and coordinate systems")
    .argument("<inputs...>", "LAS and LAZ files, and folders with them at any depth")
    .requiredOption("--out <folder>", "folder for the results, created if missing")
    .option("--picture-size <pixels>", "longest side of the map without its axes (default 1400)")
    .option("--force", "replace the catalogue of an earlier run in the folder")
    .option("--json", "write one JSON document to stdout instead of the table")
    .addHelpText("after", "\nExample:\n  npm start -- catalog flight/ --out catalogue")
    .action((inputs: string[], options: CatalogOptions) =>
      perform(async (deps) => {
        const { catalog } = await import("./catalog.ts");
        await catalog(inputs, options, deps);
      }),
    );
}
