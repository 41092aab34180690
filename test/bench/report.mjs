// Medians, the comparison with the stored baseline, and the table.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { availableParallelism, loadavg, totalmem } from "node:os";
import { join } from "node:path";
import { root } from "../../scripts/fingerprint.mjs";

const baselineFile = join(root, "test", "bench", "baseline.json");
const SHORT = { wall_s: "wall", op_cpu_s: "op CPU", cpu_s: "CPU", peak_rss_mib: "RSS" };
/** Figures below these are noise: a ratio of them says nothing. */
const FLOOR = { wall_s: 0.05, op_cpu_s: 0.05, cpu_s: 0.05, peak_rss_mib: 16, worst_ms: 20, octree_p99_ms: 5 };

export const machine = () => ({
  cores: availableParallelism(),
  memory_gib: Number((totalmem() / 2 ** 30).toFixed(1)),
  platform: `${process.platform} ${process.arch}`,
  node: process.versions.node,
  load_before: loadavg().map((load) => Number(load.toFixed(2))),
});

function medianOf(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

/** Median of every figure over the runs; figures in groups (stages, phases) too. */
export function median(samples) {
  const result = {};
  for (const [key, value] of Object.entries(samples[0])) {
    const values = samples.map((sample) => sample[key]);
    if (typeof value === "number") result[key] = Number(medianOf(values).toFixed(4));
    else if (value !== null && typeof value === "object")
      result[key] = median(values.map((group) => ({ ...blank(values), ...group })));
  }
  return result;
}

/** Every key that any of the groups has, at zero: a short stage may not be seen in each run. */
const blank = (groups) => Object.fromEntries(groups.flatMap((group) => Object.keys(group)).map((key) => [key, 0]));

export function readBaseline() {
  return existsSync(baselineFile) ? JSON.parse(readFileSync(baselineFile, "utf8")) : { jobs: {} };
}

/** Replaces the figures of the jobs that ran; the others keep theirs. */
export function updateBaseline(results, machine_) {
  const before = readBaseline();
  const { load_before: _, ...description } = machine_;
  const entries = results.map(({ name, job, median: figures }) => [
    name,
    Object.fromEntries(job.compare.map((key) => [key, figures[key]])),
  ]);
  const jobs = { ...before.jobs, ...Object.fromEntries(entries) };
  const sorted = Object.fromEntries(Object.entries(jobs).sort(([a], [b]) => (a < b ? -1 : 1)));
  writeFileSync(baselineFile, `${JSON.stringify({ machine: description, jobs: sorted }, null, 2)}\n`);
}

/** now / baseline per compared figure, and the worst of them; undefined when the baseline does not know the job. */
export function compare(figures, job, before) {
  if (before === undefined) return undefined;
  const ratios = {};
  for (const key of job.compare) {
    const floor = FLOOR[key] ?? 0;
    if (before[key] === undefined) continue;
    ratios[key] = Number((Math.max(figures[key], floor) / Math.max(before[key], floor)).toFixed(3));
  }
  const worst = Object.entries(ratios).sort((a, b) => b[1] - a[1])[0];
  return worst && { ratios, worst: { figure: worst[0], ratio: worst[1] } };
}

const cell = (value, digits) => (value === undefined ? "" : value.toFixed(digits));

function row({ name, job, median: figures, targets, baseline, peer, error, samples }) {
  if (error !== undefined)
    return [name, job.title, "FAILED", "", "", error.split("\n")[0].slice(0, 60), "", "", "", ""];
  const { worst } = baseline ?? {};
  const peerText = peer.name
    ? `${peer.name}: ${(peer.rate / 1e6).toFixed(1)} M/s, ${peer.wall_s.toFixed(1)} s, ${peer.cpu_s.toFixed(1)} CPU-s`
    : peer.note;
  return [
    name,
    `${job.title} (${samples.length}x)`,
    cell(figures.wall_s, 2),
    cell(figures.cpu_s, 2),
    cell(figures.peak_rss_mib, 0),
    job.figure(figures),
    targets.map(({ text }) => text).join("; ") || "-",
    targets.length === 0
      ? "-"
      : targets.every(({ met }) => met)
        ? "yes"
        : `NO: ${targets
            .filter(({ met }) => !met)
            .map(({ text }) => text)
            .join("; ")}`,
    worst ? `${worst.ratio.toFixed(2)}x ${SHORT[worst.figure] ?? worst.figure}` : "none",
    peerText,
  ];
}

const HEAD = ["job", "what", "wall s", "CPU s", "peak RSS MiB", "rate", "target", "met?", "baseline", "peer"];

/** The results as a table for people (and Markdown). */
export function table(results) {
  const rows = [HEAD, ...results.map(row)];
  const widths = HEAD.map((_, i) => Math.max(...rows.map((cells) => cells[i].length)));
  const line = (cells) => `| ${cells.map((text, i) => text.padEnd(widths[i])).join(" | ")} |`;
  return [
    line(rows[0]),
    `|${widths.map((width) => "-".repeat(width + 2)).join("|")}|`,
    ...rows.slice(1).map(line),
  ].join("\n");
}
