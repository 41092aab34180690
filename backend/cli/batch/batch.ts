import { copyFile, mkdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { availableParallelism } from "node:os";
import { basename, join, resolve } from "node:path";
import { AppError } from "../../../shared/errors.ts";
import { jsonDocument } from "../analyze/json-document.ts";
import { checkFile, parsePictureSize, wholeNumber } from "../analyze/options.ts";
import type { AnalyzeDeps } from "../analyze/run.ts";
import { CATALOG_FILE, type Catalog, type CatalogFile } from "../catalog/document.ts";
import { DEFAULT_PICTURE_PX } from "../drawing/view-frame.ts";
import { Progress } from "../progress.ts";
import type { Fact } from "../report/summary.ts";
import { terminalTable } from "../report/terminal.ts";
import { firstReason } from "./batch-log.ts";
import { PLACES, readJson, readPlan, writeJson, writeWhole } from "./folders.ts";
import { withPid } from "./pid-file.ts";
import { memoryMb, planBatch, planKey } from "./plan.ts";
import { PLAN_FILE, type Plan } from "./plan-document.ts";
import { programName, programPath } from "./program.ts";
import { planFacts, reportBatch } from "./report.ts";
import { refuseOrphans, SLURM_STATUS, slurmProfile } from "./slurm.ts";
import { SNAKEFILE } from "./snakefile.ts";
import { requireSnakemake, runSnakemake } from "./snakemake.ts";
import { MOST_MEASURED } from "./windows.ts";
import { parseWorkflow } from "./workflow.ts";

export interface BatchOptions {
  readonly catalog: string;
  readonly out: string;
  readonly cores?: string;
  readonly slurm?: true;
  readonly plan?: true;
  readonly pictureSize?: string;
  readonly force?: true;
  readonly json?: true;
}

const MOST_CORES = 10_000;

/**
 * Runs a workflow over the tiles of a catalogue with Snakemake and writes merged results and a report. A run that was
 * ended in any way goes on where it was. Errors: invalid_argument for a workflow, catalogue or folder that does not fit;
 * unsupported without Snakemake; internal if a tile failed: the report then covers the others.
 */
export async function batch(workflow: string, options: BatchOptions, deps: AnalyzeDeps): Promise<void> {
  const { signal, stdout } = deps;
  const cores =
    options.cores === undefined ? availableParallelism() : wholeNumber("--cores", options.cores, 1, MOST_CORES);
  const pixels = options.pictureSize === undefined ? DEFAULT_PICTURE_PX : parsePictureSize(options.pictureSize);
  const root = resolve(options.out);
  const plan = await planned(workflow, options);
  await mkdir(root, { recursive: true });
  await withPid(root, async (claim) => {
    if (!options.plan) requireSnakemake();
    refuseOrphans(root, (options.slurm ?? false) && !options.plan); // they read and write what is prepared
    await prepare(root, plan, workflow, options.force ?? false);
    if (options.plan) {
      const facts: Fact[] = [...planFacts(plan), ["Plan", join(root, PLAN_FILE)]];
      stdout.write(options.json ? jsonDocument(plan) : terminalTable(facts, plan.warnings));
      return;
    }
    const progress = new Progress(deps.stderr);
    try {
      const profile = options.slurm ? "slurm" : null;
      const missing = await runJobs({ root, plan, cores, profile, progress, signal, claim });
      progress.stage("Writing the report");
      const { document, facts } = await reportBatch(root, plan, missing, pixels);
      progress.done();
      stdout.write(options.json ? jsonDocument(document) : terminalTable(facts, document.warnings));
      if (missing.length > 0)
        throw new AppError("internal", `${missing.length} of ${plan.tiles.length} tiles failed; the report says why`);
    } catch (error) {
      progress.stop();
      if (signal.aborted) throw new AppError("canceled", "what is done stays: the same command goes on from there");
      throw error;
    }
  });
}

async function planned(workflow: string, { catalog }: BatchOptions): Promise<Plan> {
  const file = await checkFile(workflow, "workflow file (YAML)");
  const parsed = parseWorkflow(await readFile(file.path, "utf8"), file.name);
  const path = join(resolve(catalog), CATALOG_FILE);
  const document = await readJson<Catalog>(path).catch((cause: Error) => {
    throw new AppError(
      "invalid_argument",
      `--catalog "${catalog}" has no readable ${CATALOG_FILE} (${cause.message}); make one with the command catalog`,
    );
  });
  if (document.kind !== "point-cloud-catalog") throw new AppError("invalid_argument", `${path} is no catalogue`);
  await checkUnchanged(document.files);
  return planBatch(document, parsed, { name: basename(resolve(catalog)), program: await programName() });
}

/** Errors: invalid_argument if a file is not what the catalogue has read: tiles would miss its points. */
async function checkUnchanged(files: readonly CatalogFile[]): Promise<void> {
  for (const { path, bytes, modified_ms } of files) {
    const now = await stat(path).catch(() => null);
    if (now?.size === bytes && now.mtimeMs === modified_ms) continue;
    const what = now ? "has changed since the catalogue was made" : "is gone";
    throw new AppError("invalid_argument", `${path} ${what}; make the catalogue anew, with --force`);
  }
}

/** Folders that a batch fills. */
const FILLED = ["tiles", "merged", "clouds", "unpacked", ".work", "logs", ".snakemake", "frame.json"];

/** Writes plan and Snakefile. Errors: invalid_argument if the folder holds results of another plan. */
async function prepare(root: string, plan: Plan, workflow: string, force: boolean): Promise<void> {
  const other = await otherOf(root, plan);
  if (other !== null && !force)
    throw new AppError(
      "invalid_argument",
      `--out "${root}" holds a batch of another ${other}; choose another folder, or replace it with --force`,
    );
  if (other !== null) for (const name of FILLED) await rm(join(root, name), { recursive: true, force: true });
  await mkdir(join(root, "logs"), { recursive: true });
  await copyFile(workflow, join(root, "workflow.yml"));
  await writeJson(join(root, PLAN_FILE), plan);
  await writeWhole(join(root, "Snakefile"), SNAKEFILE);
  await writeWhole(join(root, "slurm", "config.yaml"), slurmProfile(root));
  await writeFile(join(root, "slurm", "slurm-status.sh"), SLURM_STATUS, { mode: 0o755 });
  await writeConfig(root, plan, []);
}

/** In what the plan of a folder with results differs, in words; null: in nothing, or the folder has no results. */
async function otherOf(root: string, plan: Plan): Promise<string | null> {
  const has = (name: string) => stat(join(root, name)).then(Boolean, () => false);
  const unknown = "workflow or catalogue";
  if (!(await has(PLAN_FILE))) return (await has("tiles")) || (await has("clouds")) ? unknown : null;
  const existing = await readPlan(root).catch(() => null); // of another version, or damaged
  if (!existing) return unknown;
  if (existing.program !== plan.program) return `version of this program, ${existing.program}`;
  return planKey(existing) === planKey(plan) ? null : unknown;
}

/** Memory of the merge: it holds the lists of all tiles. */
const MERGE_MB = { base: 700, per_tile: 2 };

async function writeConfig(root: string, plan: Plan, missing: readonly string[]): Promise<void> {
  const quoted = [process.execPath, programPath()].map((word) => `'${word.replaceAll("'", `'\\''`)}'`);
  const merge_mem_mb = MERGE_MB.base + MERGE_MB.per_tile * plan.tiles.length;
  const measure_mem_mb = memoryMb(MOST_MEASURED);
  await writeJson(join(root, "config.json"), { program: quoted.join(" "), missing, merge_mem_mb, measure_mem_mb });
}

interface JobsRun {
  readonly root: string;
  readonly plan: Plan;
  readonly cores: number;
  readonly profile: string | null;
  readonly progress: Progress;
  readonly signal: AbortSignal;
  /** Told the process group of the scheduler. */
  readonly claim: (group: number) => Promise<void>;
}

/** Runs all jobs; if tiles fail, merges the others. Returns the tiles without a result. */
async function runJobs({ root, plan, cores, profile, progress, signal, claim }: JobsRun): Promise<string[]> {
  const onProgress = (done: number, total: number) => progress.update(done / total, `${done} of ${total} jobs`);
  const run = () => runSnakemake({ folder: root, cores, profile, signal, onProgress, claim });
  progress.stage(`Running ${plan.tiles.length} tiles`);
  if (await run()) return [];
  const missing: string[] = [];
  for (const { id } of plan.tiles)
    if (
      !(await stat(join(root, PLACES.result(id))).then(
        () => true,
        () => false,
      ))
    )
      missing.push(id);
  if (missing.length === plan.tiles.length || missing.length === 0)
    throw new AppError("internal", `the jobs failed; ${await firstReason(root, missing)}; see ${join(root, "logs")}`);
  progress.stage(`Merging without ${missing.length} failed tiles`);
  await writeConfig(root, plan, missing);
  if (!(await run())) throw new AppError("internal", `the merge failed; see ${join(root, "logs")}`);
  return missing;
}
