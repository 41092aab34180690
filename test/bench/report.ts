// The comparison with the stored baseline, and the table.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { availableParallelism, loadavg, totalmem } from "node:os";
import { join } from "node:path";
import { root } from "./folders.ts";
import type { Job, Measured } from "./job.ts";
import type { PeerFigures } from "./peers.ts";

const baselineFile = join(root, "test", "bench", "baseline.json");
const SHORT: Readonly<Record<string, string>> = {
  wall_s: "wall",
  op_cpu_s: "op CPU",
  cpu_s: "CPU",
  peak_rss_mib: "RSS",
};
/** Figures below these are noise: a ratio of them says nothing. */
const FLOOR: Readonly<Record<string, number>> = {
  wall_s: 0.05,
  op_cpu_s: 0.05,
  cpu_s: 0.05,
  peak_rss_mib: 16,
  worst_ms: 20,
  octree_p99_ms: 5,
};

export type Numbers = Readonly<Record<string, number>>;
export interface Baseline {
  readonly machine?: object;
  readonly jobs: Readonly<Record<string, Numbers>>;
}
export interface Comparison {
  /** Figure / that of the baseline, of each that both have. */
  readonly ratios: Numbers;
  readonly worst: { readonly figure: string; readonly ratio: number };
}
export interface Done extends Measured {
  readonly name: string;
  readonly job: Pick<Job, "title" | "compare">;
  readonly baseline: Comparison | undefined;
  readonly peer: PeerFigures;
}
export interface Failed {
  readonly name: string;
  readonly job: Pick<Job, "title">;
  readonly error: string;
}
export type Result = Done | Failed;
export const isDone = (result: Result): result is Done => !("error" in result);

export const machine = () => ({
  cores: availableParallelism(),
  memory_gib: Number((totalmem() / 2 ** 30).toFixed(1)),
  platform: `${process.platform} ${process.arch}`,
  node: process.versions.node,
  load_before: loadavg().map((load) => Number(load.toFixed(2))),
});
export type Machine = ReturnType<typeof machine>;

/** The single figures of a median. */
export const numbersOf = (median: object): Numbers =>
  Object.fromEntries(Object.entries(median).filter((entry): entry is [string, number] => typeof entry[1] === "number"));

export const readBaseline = (): Baseline =>
  existsSync(baselineFile) ? (JSON.parse(readFileSync(baselineFile, "utf8")) as Baseline) : { jobs: {} };

/** Replaces the figures of the jobs that ran; the others keep theirs. */
export function updateBaseline(results: readonly Done[], conditions: Machine): void {
  const { load_before: _, ...description } = conditions;
  const entries = results.map(({ name, job, median }) => {
    const figures = numbersOf(median);
    return [name, Object.fromEntries(job.compare.map((key) => [key, figures[key]]))] as const;
  });
  const jobs = { ...readBaseline().jobs, ...Object.fromEntries(entries) };
  const sorted = Object.fromEntries(Object.entries(jobs).sort(([a], [b]) => (a < b ? -1 : 1)));
  writeFileSync(baselineFile, `${JSON.stringify({ machine: description, jobs: sorted }, null, 2)}\n`);
}

/** Figure / baseline of those that the job compares, and the worst of them; undefined when the baseline does not know the job. */
export function compare(
  figures: Numbers,
  { compare: names }: Pick<Job, "compare">,
  before: Numbers | undefined,
): Comparison | undefined {
  const ratios: Record<string, number> = {};
  for (const name of names) {
    const floor = FLOOR[name] ?? 0;
    const [value, base] = [figures[name], before?.[name]];
    if (value === undefined || base === undefined) continue;
    ratios[name] = Number((Math.max(value, floor) / Math.max(base, floor)).toFixed(3));
  }
  const worst = Object.entries(ratios).sort((a, b) => b[1] - a[1])[0];
  return worst && { ratios, worst: { figure: worst[0], ratio: worst[1] } };
}

const cell = (value: number | undefined, digits: number) => (value === undefined ? "" : value.toFixed(digits));

function peerText(peer: PeerFigures): string {
  if (!("name" in peer)) return peer.note;
  return `${peer.name}: ${(peer.rate / 1e6).toFixed(1)} M/s, ${peer.wall_s.toFixed(1)} s, ${peer.cpu_s.toFixed(1)} CPU-s`;
}

function targetText(targets: Measured["targets"]): string {
  if (targets.length === 0) return "-";
  const missed = targets.filter(({ met }) => !met).map(({ text }) => text);
  return missed.length === 0 ? "yes" : `NO: ${missed.join("; ")}`;
}

function row(result: Result): string[] {
  const { name, job } = result;
  if (!isDone(result))
    return [name, job.title, "FAILED", "", "", (result.error.split("\n")[0] ?? "").slice(0, 60), "", "", "", ""];
  const { samples, median, figure, targets, baseline, peer } = result;
  const { wall_s, cpu_s, peak_rss_mib } = numbersOf(median);
  return [
    name,
    `${job.title} (${samples.length}x)`,
    cell(wall_s, 2),
    cell(cpu_s, 2),
    cell(peak_rss_mib, 0),
    figure,
    targets.map(({ text }) => text).join("; ") || "-",
    targetText(targets),
    baseline ? `${baseline.worst.ratio.toFixed(2)}x ${SHORT[baseline.worst.figure] ?? baseline.worst.figure}` : "none",
    peerText(peer),
  ];
}

const HEAD = ["job", "what", "wall s", "CPU s", "peak RSS MiB", "rate", "target", "met?", "baseline", "peer"];

/** The results as a table for people (and Markdown). */
export function table(results: readonly Result[]): string {
  const rows = results.map(row);
  const widths = HEAD.map((head, i) =>
    Math.max(...[head, ...rows.map((cells) => cells[i] ?? "")].map((t) => t.length)),
  );
  const line = (cells: readonly string[]) => `| ${cells.map((text, i) => text.padEnd(widths[i] ?? 0)).join(" | ")} |`;
  return [line(HEAD), `|${widths.map((width) => "-".repeat(width + 2)).join("|")}|`, ...rows.map(line)].join("\n");
}
