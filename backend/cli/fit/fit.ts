import { readFile } from "node:fs/promises";
import { AppError } from "../../../shared/errors.ts";
import { jsonDocument } from "../analyze/json-document.ts";
import { checkFile } from "../analyze/options.ts";
import { describeVersions } from "../analyze/record.ts";
import type { AnalyzeDeps } from "../analyze/run.ts";
import { terminalTable } from "../report/terminal.ts";
import { runInFolder } from "../run/folder-run.ts";
import { curveFigures } from "./figures.ts";
import { fitFacts, writeFit } from "./results.ts";

/** Options from commander. */
export interface RawFitOptions {
  readonly model: string;
  readonly out: string;
  readonly maxIterations?: string;
  readonly force?: true;
  readonly json?: true;
}

/** Aliases that the service knows too. */
const ALIASES: Readonly<Record<string, string>> = { vulnerability: "sigmoidal", pvcurve: "sjb2018" };

/** Errors: invalid_argument. */
function iterations(text: string | undefined): number {
  const count = text === undefined ? 1000 : Number(text);
  if (Number.isInteger(count) && count >= 1 && count <= 100_000) return count;
  throw new AppError("invalid_argument", `--max-iterations "${text}" must be a whole number from 1 to 100000`);
}

/**
 * Fits a model to the curves of a table and writes tables, pictures and report, all of them or, after a cancel or failure,
 * none. Errors: those of the options, the file and the client.
 */
export async function fitTableFile(table: string, raw: RawFitOptions, deps: AnalyzeDeps): Promise<void> {
  const max_iterations = iterations(raw.maxIterations);
  const file = await checkFile(table, "table");
  await runInFolder({ out: raw.out, force: raw.force ?? false }, deps, async (run) => {
    const { client, progress, signal } = run;
    progress.stage(`Reading ${file.name}`);
    const id = ALIASES[raw.model] ?? raw.model;
    const categories = Object.entries(await client.listModels({ signal }));
    const category = categories.find(([, models]) => Object.hasOwn(models, id));
    const model = category?.[1][id];
    if (!category || !model) {
      const known = categories.flatMap(([, models]) => Object.keys(models)).join(", ");
      throw new AppError("invalid_argument", `--model "${raw.model}" is no model; the models are ${known}`);
    }
    const blob = new Blob([await readFile(file.path, { signal })]);
    progress.stage("Fitting");
    const fields = { model_category: category[0], model_type: id, max_iterations };
    const answer = await client.fitTable(blob, file.name, fields, { signal });
    progress.stage("Drawing pictures");
    const figures = await curveFigures(model, answer.curves);
    const versions = await describeVersions(client, signal);
    progress.stage("Writing the report");
    const written = { file, model, id, answer, max_iterations };
    const { document, outputs } = await writeFit(written, figures, run, versions);
    const facts = [...fitFacts(written), ...outputs];
    deps.stdout.write(raw.json ? jsonDocument(document) : terminalTable(facts, document.warnings));
  });
}
