import { existsSync, readdirSync } from "node:fs";
import { Job } from "../../backend/jobs/job.ts";
import { type CurveOptions, runCurveFit } from "../../backend/services/fit/curves/curve.ts";
import { misfitWarnings } from "../../backend/services/fit/curves/misfit.ts";
import { parseExpression } from "../../backend/services/fit/expression/parse.ts";
import { modelParameters, modelTask, restartsOf } from "../../backend/services/fit/models/model-task.ts";
import { digits, NIST, type NistSet, nistSet } from "../support/fit/nist.ts";
import { DESIGNED, syntheticSet } from "./fit-designs.ts";
import type { Part } from "./part.ts";
import { uniform } from "./random.ts";

const SETS = Number(process.env.FIT_SETS ?? 10_000);
const SAME_COST = 1e-8;
const OPTIONS: CurveOptions = {
  loss: "linear",
  loss_scale: 1,
  more_starts: "on_failure",
  confidence_level: 0.95,
  profile: false,
  max_iterations: 1000,
};

interface NistRow {
  readonly kind: "nist";
  readonly name: string;
  /** Correct digits of each parameter, from both starts. */
  readonly digits: readonly (readonly number[])[];
  readonly starts: readonly number[];
  readonly evaluations: readonly number[];
}
interface ModelRow {
  readonly kind: "model";
  readonly name: string;
  readonly sets: number;
  /** Sets whose residual sum is that of a fit from the truth. */
  readonly found: number;
  readonly converged: number;
  /** Sets with more than one start. */
  readonly restarted: number;
  /** Share of the sets whose interval holds the truth, by parameter. */
  readonly coverage: Readonly<Record<string, number>>;
  /** Sets that a warning says do not fit: of a row off the curve, or a curve that the rows do not follow. */
  readonly told: number;
  readonly ms_per_fit: number;
}
type Row = NistRow | ModelRow;

async function nistRow(set: NistSet): Promise<NistRow> {
  const { y: measured = [], ...inputs } = set.data;
  const fits = [];
  for (const starts of set.starts) {
    const task = {
      equation: parseExpression(set.equation),
      implicit_output: null,
      parameters: starts.map((start, i) => ({ symbol: `b${i + 1}`, start, low: -1e10, high: 1e10 })),
      constants: new Map<string, number>(),
      inputs: new Map(Object.entries(inputs)),
      measured,
    };
    fits.push(await runCurveFit(task, OPTIONS, new Job()));
  }
  return {
    kind: "nist",
    name: set.name,
    digits: fits.map(({ values }) => set.certified.map((value, i) => digits(values[i] ?? Number.NaN, value))),
    starts: fits.map(({ start_count }) => start_count),
    evaluations: fits.map(({ evaluation_count }) => evaluation_count),
  };
}

async function modelRow(id: string): Promise<ModelRow> {
  const unit = uniform(20 + DESIGNED.indexOf(id));
  const inside = new Map<string, number>();
  let [found, converged, restarted, told, spent] = [0, 0, 0, 0, 0];
  for (let set = 0; set < SETS; ++set) {
    const { model, truth, columns } = await syntheticSet(
      id,
      unit,
      async (task) => (await runCurveFit(task, OPTIONS, new Job())).fitted,
    );
    const parameters = modelParameters(model, columns);
    const began = performance.now();
    const options = { ...OPTIONS, more_starts: restartsOf(model) } as const;
    const fit = await runCurveFit(modelTask(model, columns, parameters, new Map()), options, new Job());
    spent += performance.now() - began;
    const known = parameters.map((parameter) => ({ ...parameter, start: truth[parameter.symbol] ?? Number.NaN }));
    const alone = { ...OPTIONS, more_starts: "never" as const };
    const best = await runCurveFit(modelTask(model, columns, known, new Map()), alone, new Job());
    found += fit.cost <= best.cost * (1 + SAME_COST) ? 1 : 0;
    converged += fit.end === "converged" ? 1 : 0;
    restarted += fit.start_count > 1 ? 1 : 0;
    told += misfitWarnings(fit, columns.get(model.output) ?? [], String).length > 0 ? 1 : 0;
    parameters.forEach(({ symbol }, i) => {
      const [low, high, value] = [fit.low[i] ?? Infinity, fit.high[i] ?? -Infinity, truth[symbol] ?? Number.NaN];
      inside.set(symbol, (inside.get(symbol) ?? 0) + (low <= value && value <= high ? 1 : 0));
    });
  }
  const coverage = Object.fromEntries([...inside].map(([symbol, count]) => [symbol, count / SETS]));
  return { kind: "model", name: id, sets: SETS, found, converged, restarted, coverage, told, ms_per_fit: spent / SETS };
}

async function measure(methods: readonly string[], groups: readonly string[]): Promise<readonly Row[]> {
  const rows: Row[] = [];
  if (methods.includes("nist")) {
    if (!existsSync(NIST)) console.error(`the sets of NIST are left out: there is no ${NIST} (APP_TEST_DATA)`);
    else for (const file of readdirSync(NIST)) rows.push(await nistRow(nistSet(file.replace(".dat", ""))));
  }
  if (methods.includes("models")) for (const id of groups) rows.push(await modelRow(id));
  return rows;
}

const isNist = (row: Row): row is NistRow => row.kind === "nist";
const isModel = (row: Row): row is ModelRow => row.kind === "model";
const percent = (part: number) => `${(100 * part).toFixed(2)} %`;
const least = (values: readonly number[]) => Math.min(...values).toFixed(1);

function tables(rows: readonly Row[]): string {
  const nist = rows.filter(isNist);
  const models = rows.filter(isModel);
  const lines: string[] = [];
  if (nist.length > 0) {
    lines.push(
      "| set | parameters | fewest digits, start 1 | start 2 | starts fitted | evaluations |",
      "|---|---|---|---|---|---|",
    );
    for (const { name, digits: correct, starts, evaluations } of nist) {
      const [one = [], two = []] = correct;
      const cells = [name, one.length, least(one), least(two), starts.join(", "), evaluations.join(", ")];
      lines.push(`| ${cells.join(" | ")} |`);
    }
    lines.push("");
  }
  if (models.length > 0) {
    lines.push(
      "| model | sets | best residual sum found | converged | further starts | interval holds the truth | told not to fit | ms per fit |",
      "|---|---|---|---|---|---|---|---|",
    );
    for (const { name, sets, found, converged, restarted, coverage, told, ms_per_fit } of models) {
      const held = Object.entries(coverage).map(([symbol, part]) => `${symbol} ${percent(part)}`);
      const cells = [name, sets, found, converged, restarted, held.join(", "), told, ms_per_fit.toFixed(2)];
      lines.push(`| ${cells.join(" | ")} |`);
    }
  }
  return lines.join("\n");
}

function targets(rows: readonly Row[]): string {
  const lines: string[] = [];
  const all = rows.filter(isNist).flatMap((row) => row.digits.flat());
  if (all.length > 0) {
    const mean = all.reduce((sum, one) => sum + one / all.length, 0);
    lines.push(`digits of NIST: at least ${least(all)} (target 6), mean ${mean.toFixed(2)} (target 10, at most 11)`);
  }
  for (const { name, sets, found, coverage } of rows.filter(isModel)) {
    const held = Object.values(coverage);
    const covers = held.every((part) => part >= 0.93 && part <= 0.97);
    lines.push(
      `${name}: ${found === sets ? "every set found" : `${sets - found} sets missed`}, intervals ${covers ? "93 to 97 %" : "off"}`,
    );
  }
  return lines.join("\n");
}

export const fitsPart: Part<Row> = { methods: ["nist", "models"], groups: DESIGNED, measure, tables, targets };
