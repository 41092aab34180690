// `npm run bench [-- JOB...] [--runs N] [--json] [--update] [--check] [--factor F] [--install-peers] [--list]`
// Measures whole processes; prints a table and JSON. docs/bench.md describes the jobs.
import { parseArgs } from "node:util";
import { jobs } from "../test/bench/jobs.mjs";
import { buildProgram, run } from "../test/bench/native.mjs";
import { installPeers, measurePeer } from "../test/bench/peers.mjs";
import { compare, machine, median, readBaseline, table, updateBaseline } from "../test/bench/report.mjs";

const SETUP = [process.execPath, ["scripts/setup.mjs"]];

function fail(message, code = 2) {
  console.error(message);
  process.exit(code);
}

function options() {
  let parsed;
  try {
    parsed = parseArgs({
      allowPositionals: true,
      options: {
        runs: { type: "string", default: "3" },
        factor: { type: "string", default: "1.5" },
        json: { type: "boolean", default: false },
        update: { type: "boolean", default: false },
        check: { type: "boolean", default: false },
        list: { type: "boolean", default: false },
        "install-peers": { type: "boolean", default: false },
      },
    });
  } catch (error) {
    fail(error.message);
  }
  const { values, positionals } = parsed;
  const runs = Number(values.runs);
  const factor = Number(values.factor);
  if (!Number.isInteger(runs) || runs < 1) fail(`--runs ${values.runs}: a whole number from 1`);
  if (!(factor >= 1)) fail(`--factor ${values.factor}: a number from 1`);
  const unknown = positionals.filter((name) => !Object.hasOwn(jobs, name));
  if (unknown.length > 0) fail(`unknown job: ${unknown.join(", ")}; one of ${Object.keys(jobs).join(", ")}`);
  return { ...values, runs, factor, names: positionals.length > 0 ? positionals : Object.keys(jobs) };
}

async function measureJob(name, runs, baseline) {
  const job = jobs[name];
  console.error(`-- ${name}: ${job.title}`);
  try {
    const samples = await job.sample(Math.min(runs, job.most ?? runs));
    const figures = median(samples);
    const targets = job.targets.map(({ text, met }) => ({ text, met: met(figures) }));
    const peer = await measurePeer(name, job.count);
    return { name, job, samples, median: figures, targets, baseline: compare(figures, job, baseline.jobs[name]), peer };
  } catch (error) {
    console.error(`${name} failed: ${error.stack ?? error}`);
    return { name, job, samples: [], error: String(error.message ?? error) };
  }
}

/** Jobs whose figures are worse than the baseline allows, as sentences. */
function regressions(results, factor) {
  return results.flatMap(({ name, error, baseline }) => {
    if (error !== undefined) return [];
    if (baseline === undefined) return [`${name}: the baseline does not know it; run with --update once`];
    const worse = Object.entries(baseline.ratios).filter(([, ratio]) => ratio > factor);
    return worse.map(([figure, ratio]) => `${name}: ${figure} is ${ratio.toFixed(2)}x the baseline (limit ${factor}x)`);
  });
}

const asked = options();
if (asked.list) {
  for (const [name, { title, targets }] of Object.entries(jobs))
    console.log(`${name.padEnd(12)} ${title}: ${targets.map(({ text }) => text).join("; ")}`);
  process.exit(0);
}
if (process.platform !== "linux") fail("The benchmark reads /proc and needs Linux.", 1);
const setup = await run(...SETUP);
if (setup.status !== 0) fail(`The setup failed:\n${setup.stderr}`, 1);
try {
  buildProgram();
  if (asked["install-peers"]) installPeers();
} catch (error) {
  fail(error.message, 1);
}
const conditions = machine();
const baseline = readBaseline();
const results = [];
for (const name of asked.names) results.push(await measureJob(name, asked.runs, baseline));

const failed = results.filter(({ error }) => error !== undefined);
const report = {
  machine: conditions,
  jobs: Object.fromEntries(results.map(({ name, job, ...rest }) => [name, { title: job.title, ...rest }])),
};
if (!asked.json) console.log(`${table(results)}\n`);
console.log(JSON.stringify(report, null, asked.json ? 2 : 0));
if (asked.update)
  updateBaseline(
    results.filter(({ error }) => error === undefined),
    conditions,
  );
const worse = asked.check ? regressions(results, asked.factor) : [];
for (const line of worse) console.error(line);
if (worse.length > 0 && conditions.load_before[0] > conditions.cores / 2) {
  console.error(
    `The load average was ${conditions.load_before[0]} before the run: wall times say little then, CPU times more.`,
  );
}
process.exitCode = failed.length > 0 || worse.length > 0 ? 1 : 0;
