// Plants of every species at three ages, mean of five seeds: against the ranges of the species files (`expected`), and
// against what another program grows (`reference`: plants_reference of the test data). `mesh`: plant-checks.ts.
import { existsSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import { SpeciesLibrary } from "../../backend/sessions/species-library.ts";
import { type ExpectedRange, SPECIES_IDS } from "../../shared/contract/plant-species-file.ts";
import { root } from "../bench/folders.ts";
import type { Part } from "./part.ts";
import { meshRow } from "./plant-checks.ts";
import { meanMeasures, measuredPlant, type PlantMeasures } from "./plant-measures.ts";

const SEEDS = [1, 2, 3, 4, 5];
const METHODS = ["expected", "reference", "mesh"] as const;
const REFERENCE = resolve(root, process.env.APP_TEST_DATA ?? "../shared/data", "plants_reference/plants.json");

export interface Cell {
  readonly metric: string;
  readonly value: number;
  /** Range of the species file; of the reference, its mean divided and multiplied by the factor. */
  readonly low: number;
  readonly high: number;
  readonly is_in: boolean;
}

export interface PlantRow {
  readonly method: string;
  readonly species: string;
  readonly age_days: number;
  readonly cells: readonly Cell[];
}

const cell = (metric: string, value: number, low: number, high: number): Cell => ({
  metric,
  value,
  low,
  high,
  is_in: low <= value && value <= high,
});

async function librarySpecies(id: string) {
  const species = await new SpeciesLibrary().find(id);
  const expected = species?.file.expected;
  if (!species || !expected) throw new Error(`no species ${id} with expected ranges`);
  return { expected, native: await species.native() };
}

function expectedRow(
  species: string,
  { expected }: Awaited<ReturnType<typeof librarySpecies>>,
  at: number,
  mean: PlantMeasures,
): PlantRow {
  const age = expected.ages[at];
  if (!age) throw new Error(`${species} has no age ${at}`);
  const ground_m2 = expected.row_spacing_m * expected.plant_spacing_m;
  const range = (metric: string, value: number, wanted: ExpectedRange | null): Cell[] =>
    wanted === null ? [] : [cell(metric, value, ...wanted.range)];
  const isLast = at === expected.ages.length - 1;
  return {
    method: "expected",
    species,
    age_days: age.age_days,
    cells: [
      ...range("height_m", mean.height_m, age.height_m),
      ...range("leaves", mean.leaves, age.leaves),
      ...range("leaf_area_m2", mean.leaf_area_m2, age.leaf_area_m2),
      ...range("leaf_area_index", mean.leaf_area_m2 / ground_m2, age.leaf_area_index),
      ...range("base_diameter_m", mean.base_diameter_m, age.base_diameter_m),
      // The angles are the same at all ages; the oldest plant has the most nodes and laterals.
      ...(isLast ? range("phyllotaxis_deg", mean.phyllotactic_angle_deg, expected.phyllotactic_angle_deg) : []),
      ...(isLast ? range("insertion_deg", mean.insertion_angle_deg, expected.insertion_angle_deg) : []),
    ],
  };
}

/** species -> age -> metric -> [least, mean, greatest] */
type Reference = Readonly<Record<string, Readonly<Record<string, Readonly<Record<string, readonly number[]>>>>>>;

/** Factor within which another model's mean should lie, and its name in the reference. */
const COMPARED: readonly (readonly [keyof PlantMeasures, string, number])[] = [
  ["height_m", "top_above_base_m", 1.5],
  ["blade_length_m", "mean_blade_length_m", 1.5],
  ["leaf_area_m2", "leaf_area_m2", 2],
  ["leaves", "leaves", 2],
  ["phytomers", "phytomers", 2],
];

function referenceRow(species: string, age_days: number, mean: PlantMeasures, reference: Reference): PlantRow | null {
  const theirs = reference[species]?.[String(age_days)];
  if (!theirs) return null;
  const cells = COMPARED.flatMap(([name, other, factor]) => {
    const value = theirs[other]?.[1];
    if (value === undefined) throw new Error(`${REFERENCE}: ${species} ${age_days} d lacks ${other}`);
    const mine = Number.isFinite(mean[name]) ? mean[name] : 0;
    return [cell(name, mine, value / factor, value * factor)];
  });
  return { method: "reference", species, age_days, cells };
}

async function measure(methods: readonly string[], groups: readonly string[]): Promise<readonly PlantRow[]> {
  let reference: Reference | null = null;
  if (methods.includes("reference")) {
    if (existsSync(REFERENCE)) reference = JSON.parse(readFileSync(REFERENCE, "utf8")) as Reference;
    else console.error(`left out: reference (${REFERENCE} is missing)`);
  }
  const rows: PlantRow[] = [];
  for (const id of groups) {
    if (methods.includes("mesh")) rows.push(await meshRow(id));
    if (methods.every((method) => method === "mesh")) continue;
    const species = await librarySpecies(id);
    for (const [at, { age_days }] of species.expected.ages.entries()) {
      const plants = [];
      for (const seed of SEEDS) plants.push(await measuredPlant(species.native, age_days, seed));
      const mean = meanMeasures(plants);
      if (methods.includes("expected")) rows.push(expectedRow(id, species, at, mean));
      const compared = reference && referenceRow(id, age_days, mean, reference);
      if (compared) rows.push(compared);
    }
  }
  return rows;
}

const number = (value: number): string => (Number.isFinite(value) ? Number(value.toPrecision(3)).toString() : "-");

function table(method: string, rows: readonly PlantRow[]): string {
  const own = rows.filter((row) => row.method === method);
  if (own.length === 0) return "";
  const metrics = [...new Set(own.flatMap(({ cells }) => cells.map(({ metric }) => metric)))];
  const text = ({ value, low, high, is_in }: Cell): string => {
    const range = `${number(value)} (${number(low)}-${number(high)})`;
    return is_in ? range : `**${range} out**`;
  };
  const lines = own.map(({ species, age_days, cells }) => {
    const of = (metric: string) => cells.find((one) => one.metric === metric);
    return `| ${[species, age_days, ...metrics.map((metric) => (of(metric) ? text(of(metric) as Cell) : ""))].join(" | ")} |`;
  });
  const what = method === "mesh" ? "worst of eleven ages from 0 to the last" : `mean of ${SEEDS.length} seeds`;
  return [
    `\n${method}: ${what} (allowed range)\n`,
    `| species | age d | ${metrics.join(" | ")} |`,
    `|${"---|".repeat(metrics.length + 2)}`,
    ...lines,
  ].join("\n");
}

/**
 * Species and metrics that grow from one age to the next where the reference shrinks, or the other way round. The mean
 * blade follows the mixture of young and full-grown leaves, so that its order says nothing.
 */
function otherOrder(rows: readonly PlantRow[]): string[] {
  const own = rows.filter(({ method }) => method === "reference");
  return own.flatMap(({ species, age_days, cells }, i) => {
    const before = own[i - 1];
    if (before?.species !== species) return [];
    return cells.flatMap((now, k) => {
      if (now.metric === "blade_length_m") return [];
      const then = before.cells[k];
      if (!then) throw new Error(`${species} has other metrics at ${age_days} d`);
      // low and high are the reference divided and multiplied by the same factor.
      const theirs = Math.sqrt(now.low * now.high) - Math.sqrt(then.low * then.high);
      const grows = now.value - then.value;
      return theirs * grows < 0 ? [`${species} ${age_days} d ${now.metric}`] : [];
    });
  });
}

function target(method: string, rows: readonly PlantRow[]): string {
  const own = rows.filter((row) => row.method === method);
  if (own.length === 0) return "";
  const all = own.flatMap(({ species, age_days, cells }) => cells.map((one) => ({ species, age_days, ...one })));
  const out = all.filter(({ is_in }) => !is_in);
  const where = out.map(({ species, age_days, metric }) => `${species} ${age_days} d ${metric}`).join(", ");
  return `\n${method}: ${all.length - out.length} of ${all.length} in range${out.length > 0 ? `; out: ${where}` : ""}`;
}

/** Parts for the command line: methods are the two comparisons, groups the species. */
export const plantsPart: Part<PlantRow> = {
  methods: METHODS,
  groups: SPECIES_IDS,
  measure,
  tables: (rows) => METHODS.map((method) => table(method, rows)).join("\n"),
  targets: (rows) => {
    const order = otherOrder(rows);
    const lines = METHODS.map((method) => target(method, rows));
    if (rows.some(({ method }) => method === "reference"))
      lines.push(`\nsame order over the ages: ${order.length === 0 ? "everywhere" : `not ${order.join(", ")}`}`);
    return lines.join("\n");
  },
};
