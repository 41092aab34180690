import type { Command } from "commander";
import type { Perform } from "../analyze/command.ts";
import type { RawFitOptions } from "./fit.ts";

export function addFit(program: Command, perform: Perform): void {
  program
    .command("fit")
    .description(
      "fit a built-in model to the curves of a table; write parameters, fitted values, pictures and a report",
    )
    .argument("<table>", "table with a header row: .csv, .txt or .xlsx")
    .requiredOption("--model <id>", "model, such as fvcb, med2011, sigmoidal, sjb2018 or linear; see GET /api/models")
    .requiredOption("--out <folder>", "folder for the results, created if missing")
    .option("--max-iterations <count>", "largest number of iterations (default 1000)")
    .option("--force", "replace the report of an earlier run in the folder")
    .option("--json", "write one JSON document to stdout instead of the table")
    .addHelpText("after", EXAMPLES)
    .action((table: string, raw: RawFitOptions) =>
      perform(async (deps) => {
        const { fitTableFile } = await import("./fit.ts");
        await fitTableFile(table, raw, deps);
      }),
    );
}

const EXAMPLES = `
Examples:
  npm start -- fit curves.csv --model fvcb --out fitted
  npm start -- fit branch.txt --model vulnerability --out fitted`;
