import type { Command } from "commander";
import type { Perform } from "../analyze/command.ts";
import type { BatchOptions } from "./batch.ts";

export function addBatch(program: Command, perform: Perform): void {
  program
    .command("batch")
    .description("run ground, rasters, trees, inventory, wood and models over the tiles of a catalogue, with Snakemake")
    .argument("<workflow>", "YAML file with the steps and their parameters; docs/scale.md describes it")
    .requiredOption("--catalog <folder>", "folder that the command catalog has written")
    .requiredOption("--out <folder>", "folder for the results; a run that was ended goes on in it")
    .option("--cores <count>", "jobs at a time on this machine (default: all cores)")
    .option("--slurm", "submit the jobs to Slurm, with the profile in <out>/slurm")
    .option("--plan", "only write the plan, and the workflow for Snakemake")
    .option("--picture-size <pixels>", "longest side of the map without its axes (default 1400)")
    .option("--force", "replace the results of another workflow in the folder")
    .option("--json", "write one JSON document to stdout instead of the table")
    .addHelpText("after", EXAMPLES)
    .action((workflow: string, options: BatchOptions) =>
      perform(async (deps) => {
        const { batch } = await import("./batch.ts");
        await batch(workflow, options, deps);
      }),
    );
  addJobs(program, perform);
}

/** The jobs that Snakemake starts; people do not call them. */
function addJobs(program: Command, perform: Perform): void {
  const job = (name: string) => program.command(name, { hidden: true }).argument("<out>");
  job("batch-unpack")
    .argument("<file>")
    .action((out: string, file: string) =>
      perform(async (deps) => (await import("./cloud.ts")).unpackFile(out, file, deps)),
    );
  job("batch-measure").action((out: string) =>
    perform(async (deps) => (await import("./measure.ts")).measureSurvey(out, deps)),
  );
  job("batch-tile")
    .argument("<tile>")
    .action((out: string, tile: string) =>
      perform(async (deps) => (await import("./tile.ts")).runTile(out, tile, deps)),
    );
  job("batch-merge")
    .argument("[missing...]")
    .action((out: string, missing: string[]) =>
      perform(async (deps) => (await import("./merge.ts")).mergeTiles(out, missing, deps)),
    );
  job("batch-cloud")
    .argument("<tile>")
    .action((out: string, tile: string) =>
      perform(async (deps) => (await import("./cloud.ts")).writeCloud(out, tile, deps)),
    );
}

const EXAMPLES = `
Examples:
  npm start -- catalog flight/ --out catalogue
  npm start -- batch workflow.yml --catalog catalogue --out results --cores 8
  npm start -- batch workflow.yml --catalog catalogue --out results --slurm`;
