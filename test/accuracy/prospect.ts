// Leaf optics against 50-digit truth, and inversions of simulated leaves beside what scipy finds and statistics permits.
import { invertLeaf, LEAF_PARAMETERS, type LeafTraits, leafSpectrum } from "../../backend/native/leaf-optics.ts";
import { FULL_INVERSION_DEFAULTS, LEAF_INVERSIONS } from "../../shared/contract/fit-prospect.ts";
import * as reference from "../support/fit/leaf-reference.ts";
import { FORWARD_SETS, type ForwardRow, forwardRow } from "./leaf-forward.ts";
import { leastVariances } from "./leaf-limits.ts";
import type { Part } from "./part.ts";
import { gaussian, uniform } from "./random.ts";

type Method = (typeof LEAF_INVERSIONS)[number];
/** N, Cab, Car, Cbrown, Cw, Cm, Ant: the traits of model D. */
const TRAITS = [0, 1, 2, 3, 4, 5, 6];
const RANGES = {
  box: [
    [1, 3],
    [0, 90],
    [0, 30],
    [0, 1],
    [0, 0.04],
    [0, 0.02],
    [0, 5],
  ],
  typical: [
    [1.2, 2.5],
    [10, 80],
    [2, 20],
    [0, 0.3],
    [0.004, 0.03],
    [0.002, 0.015],
    [0, 4],
  ],
} as const;
const OWN_LEAVES = 500;
const NOISE = 0.005;
const WAVELENGTHS = Array.from({ length: 2101 }, (_, i) => 400 + i);

interface InversionRow {
  readonly method: Method;
  readonly leaves: string;
  readonly count: number;
  /** By TRAITS. */
  readonly rmse: readonly number[];
  readonly mean: readonly number[];
  readonly covered: readonly number[];
  readonly scipy: readonly number[] | null;
  readonly limit: readonly number[];
  /** User and system time a leaf, ms. */
  readonly ms: number;
}
export type ProspectRow = ForwardRow | InversionRow;

interface Leaves {
  readonly truth: readonly LeafTraits[];
  readonly spectra: readonly (readonly number[])[];
  readonly scipy: readonly LeafTraits[] | null;
  readonly variance: (reflectance: number) => number;
}

function referenceLeaves(noise: "abs" | "rel", group: string): Leaves {
  const rows = reference.referenceRows("inv_truth.csv");
  const chosen = rows.flatMap((row, i) => (row.group === group ? [i] : []));
  const scipy = reference.referenceRows(`inv_${noise}_scipy.csv`);
  const spectra = reference.measuredLeaves(noise);
  return {
    truth: chosen.map((i) => reference.traitsOf(rows[i] ?? {})),
    scipy: chosen.map((i) => reference.traitsOf(scipy[i] ?? {})),
    spectra: chosen.map((i) => spectra[i] ?? []),
    variance: noise === "abs" ? () => NOISE ** 2 : (reflectance) => (NOISE * reflectance) ** 2,
  };
}

/** Leaves of our own, simulated with the published constants where they are there. */
async function ownLeaves(group: keyof typeof RANGES): Promise<Leaves> {
  const next = uniform(group === "box" ? 11 : 12);
  const constants = reference.hasLeafReference ? reference.publishedConstants() : null;
  const truth = Array.from({ length: OWN_LEAVES }, () => [
    ...RANGES[group].map(([low, high]) => low + (high - low) * next()),
    0,
    0,
  ]);
  const spectra: number[][] = [];
  for (const traits of truth) {
    const { reflectance } = await leafSpectrum(traits, constants, false).promise;
    spectra.push(reflectance.map((value) => value + NOISE * gaussian(next)));
  }
  return { truth, spectra, scipy: null, variance: () => NOISE ** 2 };
}

const rootMean = (values: readonly number[]) => Math.sqrt(values.reduce((a, b) => a + b, 0) / values.length);
const errorsOf = (trait: number, got: readonly LeafTraits[], truth: readonly LeafTraits[]) =>
  rootMean(got.map((leaf, i) => ((leaf[trait] ?? Number.NaN) - (truth[i]?.[trait] ?? Number.NaN)) ** 2));

/** Root mean of the least variances that an unbiased estimate of each trait can have. */
async function limitsOf({ truth, variance }: Leaves): Promise<number[]> {
  const least: number[][] = [];
  for (const traits of truth) {
    least.push(leastVariances(await leafSpectrum(traits, null, true).promise, TRAITS, variance));
  }
  return TRAITS.map((t) => rootMean(least.map((variances) => variances[t] ?? Number.NaN)));
}

async function inversionRow(
  method: Method,
  leaves: string,
  limit: readonly number[],
  { truth, spectra, scipy }: Leaves,
) {
  const params = { ...FULL_INVERSION_DEFAULTS, inversion: method, model: "D", n_starts: 6 } as const;
  const found: number[][] = [];
  const errors: number[][] = [];
  const begun = process.cpuUsage();
  for (const reflectance of spectra) {
    const job = invertLeaf({ wavelengths: WAVELENGTHS, reflectance }, { ...params, do_calib: method === "full" });
    const { parameters } = await job.promise;
    const at = (index: number) => parameters.find((one) => one.index === index);
    found.push(TRAITS.map((index) => at(index)?.value ?? Number.NaN));
    errors.push(TRAITS.map((index) => at(index)?.std_error ?? Number.NaN));
  }
  const { user, system } = process.cpuUsage(begun);
  const covered = TRAITS.map(
    (t) =>
      found.filter((leaf, i) => Math.abs((leaf[t] ?? 0) - (truth[i]?.[t] ?? 0)) <= 1.96 * (errors[i]?.[t] ?? 0))
        .length / truth.length,
  );
  const row: InversionRow = {
    method,
    leaves,
    count: truth.length,
    rmse: TRAITS.map((t) => errorsOf(t, found, truth)),
    mean: TRAITS.map((t) => truth.reduce((sum, leaf) => sum + (leaf[t] ?? 0), 0) / truth.length),
    covered,
    scipy: scipy && TRAITS.map((t) => errorsOf(t, scipy, truth)),
    limit,
    ms: (user + system) / 1000 / truth.length,
  };
  return row;
}

const GROUPS: Readonly<Record<string, () => Leaves | Promise<Leaves>>> = {
  "abs box": () => referenceLeaves("abs", "box"),
  "abs typical": () => referenceLeaves("abs", "typical"),
  "rel box": () => referenceLeaves("rel", "box"),
  "rel typical": () => referenceLeaves("rel", "typical"),
  "own box": () => ownLeaves("box"),
  "own typical": () => ownLeaves("typical"),
};

async function measure(methods: readonly string[], groups: readonly string[]): Promise<readonly ProspectRow[]> {
  const rows: ProspectRow[] = [];
  if (!reference.hasLeafReference) console.error(reference.missingLeafReference);
  if (groups.includes("forward") && reference.hasLeafReference) {
    for (const set of FORWARD_SETS) rows.push(await forwardRow(set));
  }
  for (const [group, leaves] of Object.entries(GROUPS)) {
    if (!groups.includes(group) || !(group.startsWith("own") || reference.hasLeafReference)) continue;
    const made = await leaves();
    const limit = await limitsOf(made);
    for (const method of LEAF_INVERSIONS.filter((name) => methods.includes(name)))
      rows.push(await inversionRow(method, group, limit, made));
  }
  return rows;
}

const isForward = (row: ProspectRow): row is ForwardRow => "set" in row;
const inversions = (rows: readonly ProspectRow[]) => rows.filter((row): row is InversionRow => !isForward(row));
const three = (values: readonly number[]) => values.map((value) => Number(value.toPrecision(3))).join(" | ");
const percents = (values: readonly number[]) => values.map((value) => `${(100 * value).toFixed(0)} %`).join(" | ");

function tables(rows: readonly ProspectRow[]): string {
  const names = LEAF_PARAMETERS.slice(0, 7).join(" | ");
  const rule = `|---|---|---|${TRAITS.map(() => "---|").join("")}---|`;
  return [
    "| set | leaves | plate model | constants of the program | user time a leaf |",
    "|---|---|---|---|---|",
    ...rows
      .filter(isForward)
      .map(
        ({ set, leaves, published, compact, ms }) =>
          `| ${set} | ${leaves} | ${published.toExponential(1)} | ${compact.toExponential(1)} | ${ms.toFixed(2)} ms |`,
      ),
    "",
    `| leaves | inversion | figure | ${names} | CPU time a leaf |`,
    rule,
    ...inversions(rows).flatMap(({ leaves, count, method, rmse, covered, scipy, limit, ms }) => [
      `| ${leaves}, ${count} | ${method} | RMSE | ${three(rmse)} | ${ms.toFixed(1)} ms |`,
      ...(scipy && method === "full" ? [`| | | RMSE of scipy | ${three(scipy)} | |`] : []),
      `| | | statistical limit | ${three(limit)} | |`,
      `| | | within 95 % interval | ${percents(covered)} | |`,
    ]),
  ].join("\n");
}

function targets(rows: readonly ProspectRow[]): string {
  const forward = rows.filter(isForward);
  const most = (values: readonly number[]) => Math.max(0, ...values);
  const inBox = forward.filter(({ set }) => set !== "edge"); // which has contents far beyond the endpoint's
  const full = inversions(rows).filter(({ method }) => method === "full");
  const ratio = most(full.flatMap(({ rmse, scipy }) => (scipy ?? []).map((theirs, t) => (rmse[t] ?? 0) / theirs)));
  const box = inversions(rows).filter(({ method, leaves }) => method === "likelihood" && /^(abs|own) box/.test(leaves));
  const share = (t: number) => most(box.map(({ rmse, mean }) => (rmse[t] ?? 0) / (mean[t] ?? 1)));
  const slowest = (name: Method) => most(inversions(rows).flatMap(({ method, ms }) => (method === name ? [ms] : [])));
  const largest = Math.max(...box.map(({ count }) => count)); // 100 leaves leave the share open by 2 %
  const coverage = box.flatMap(({ covered, count }) => (count === largest ? covered : []));
  const lines: readonly (readonly [string, number, number])[] = [
    ["plate model within 1e-12", most(forward.map(({ published }) => published)), 1e-12],
    ["constants of the program within 1e-4, leaves of the box", most(inBox.map(({ compact }) => compact)), 1e-4],
    ["full: RMSE at most 1.02 of scipy's", ratio, 1.02],
    ["likelihood, box: chlorophyll 0.65 ug/cm2", most(box.map(({ rmse }) => rmse[1] ?? 0)), 0.65],
    ["likelihood, box: water 0.6 % of the mean", share(4), 0.006],
    ["likelihood, box: dry matter 3.5 % of the mean", share(5), 0.035],
    ["likelihood, box: misses of the 95 % intervals at most 8 %", most(coverage.map((one) => 1 - one)), 0.08],
    ["likelihood, box: 95 % intervals cover at most 98 %", most(coverage), 0.98],
    ["full: 150 ms", slowest("full"), 150],
    ["likelihood: 30 ms", slowest("likelihood"), 30],
    ["windowed: 10 ms", slowest("windowed"), 10],
  ];
  return lines
    .map(([name, worst, bound]) => `${name}: ${worst.toPrecision(3)}, ${worst <= bound ? "reached" : "MISSED"}`)
    .join("\n");
}

/** `npm run accuracy -- prospect`. */
export const prospectPart: Part<ProspectRow> = {
  methods: LEAF_INVERSIONS,
  groups: ["forward", ...Object.keys(GROUPS)],
  measure,
  tables,
  targets,
};
