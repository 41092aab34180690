// The command line of `npm run bench`: measures whole processes, prints a table and JSON. docs/bench.md describes the jobs.
import { parseArgs } from "node:util";
import type { Job } from "./job.ts";
import { jobs } from "./jobs/index.ts";
import { buildProgram, touchMemory } from "./native.ts";
import { installPeers, measurePeer } from "./peers.ts";
import {
  type Baseline,
  compare,
  isDone,
  machine,
  numbersOf,
  type Result,
  readBaseline,
  table,
  updateBaseline,
} from "./report.ts";
import { run } from "./run.ts";

function fail(message: string, code = 2): never {
  console.error(message);
  process.exit(code);
}

const OPTIONS = {
  runs: { type: "string", default: "3" },
  factor: { type: "string", default: "1.5" },
  json: { type: "boolean", default: false },
  update: { type: "boolean", default: false },
  check: { type: "boolean", default: false },
  list: { type: "boolean", default: false },
  "install-peers": { type: "boolean", default: false },
} as const;

function parsed() {
  try {
    return parseArgs({ allowPositionals: true, options: OPTIONS });
  } catch (error) {
    fail((error as Error).message);
  }
}

function options() {
  const { values, positionals } = parsed();
  const runs = Number(values.runs);
  const factor = Number(values.factor);
  if (!Number.isInteger(runs) || runs < 1) fail(`--runs ${values.runs}: a whole number from 1`);
  if (!(factor >= 1)) fail(`--factor ${values.factor}: a number from 1`);
  const names = positionals.length > 0 ? positionals : Object.keys(jobs);
  const unknown = names.filter((name) => !Object.hasOwn(jobs, name));
  if (unknown.length > 0) fail(`unknown job: ${unknown.join(", ")}; one of ${Object.keys(jobs).join(", ")}`);
  const wanted = Object.entries(jobs).filter(([name]) => names.includes(name));
  return { ...values, runs, factor, wanted };
}

async function measureJob(name: string, job: Job, runs: number, baseline: Baseline): Promise<Result> {
  console.error(`-- ${name}: ${job.title}`);
  try {
    const measured = await job.measure(runs);
    const peer = await measurePeer(name, job.count);
    const compared = compare(numbersOf(measured.median), job, baseline.jobs[name]);
    return { name, job, ...measured, baseline: compared, peer };
  } catch (error) {
    const { stack, message } = error as Error;
    console.error(`${name} failed: ${stack ?? error}`);
    return { name, job, error: message ?? String(error) };
  }
}

/** Jobs whose figures are worse than the baseline allows, as sentences. */
function regressions(results: readonly Result[], factor: number, known: Baseline): string[] {
  return results.filter(isDone).flatMap(({ name, baseline }) => {
    if (known.jobs[name] === undefined) return [`${name}: the baseline does not know it; run with --update once`];
    const worse = Object.entries(baseline?.ratios ?? {}).filter(([, ratio]) => ratio > factor);
    return worse.map(([figure, ratio]) => `${name}: ${figure} is ${ratio.toFixed(2)}x the baseline (limit ${factor}x)`);
  });
}

/** What the JSON holds of a job. */
function reported(result: Result): object {
  const { name: _name, job, ...rest } = result;
  return { title: job.title, ...rest };
}

const asked = options();
if (asked.list) {
  for (const [name, { title, targets }] of asked.wanted)
    console.log(`${name.padEnd(12)} ${title}: ${targets.join("; ")}`);
  process.exit(0);
}
if (process.platform !== "linux") fail("The benchmark reads /proc and needs Linux.", 1);
const setup = await run(process.execPath, ["scripts/setup.mjs"]);
if (setup.status !== 0) fail(`The setup failed:\n${setup.stderr}`, 1);
try {
  if (asked["install-peers"]) installPeers();
  buildProgram();
} catch (error) {
  fail((error as Error).message, 1);
}
await touchMemory();
const conditions = machine();
const baseline = readBaseline();
const results: Result[] = [];
for (const [name, job] of asked.wanted) results.push(await measureJob(name, job, asked.runs, baseline));

const report = {
  machine: conditions,
  jobs: Object.fromEntries(results.map((result) => [result.name, reported(result)])),
};
if (!asked.json) console.log(`${table(results)}\n`);
console.log(JSON.stringify(report, null, asked.json ? 2 : 0));
if (asked.update) updateBaseline(results.filter(isDone), conditions);
const worse = asked.check ? regressions(results, asked.factor, baseline) : [];
for (const line of worse) console.error(line);
const load = conditions.load_before[0] ?? 0;
if (worse.length > 0 && load > conditions.cores / 2)
  console.error(`The load average was ${load} before the run: wall times say little then, CPU times more.`);
process.exitCode = results.every(isDone) && worse.length === 0 ? 0 : 1;
