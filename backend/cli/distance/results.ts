import type { DistanceSuccess } from "../../../shared/contract/c2m.ts";
import { jsonDocument } from "../analyze/json-document.ts";
import { plainNumber, shortNumber } from "../drawing/round-steps.ts";
import { type Page, smallPage } from "../report/page.ts";
import { versionsFact } from "../report/reproduce.ts";
import type { Fact } from "../report/summary.ts";
import { type FolderRun, REPORT_FILE, SUMMARY_FILE } from "../run/folder-run.ts";
import { type CloudPart, inputFact, type MeshPart } from "../run/inputs.ts";
import { reportedWarnings } from "../wording.ts";
import type { ColumnFormat, DistanceOptions } from "./options.ts";
import type { NamedFigure } from "./pictures.ts";

const STATISTICS_FILE = "statistics.csv";
const HISTOGRAM_FILE = "histogram.csv";

/** The cloud with its distances. */
export interface MeasuredCloud {
  readonly name: string;
  readonly format: ColumnFormat;
  readonly warnings: readonly string[];
}

interface Measured {
  readonly points: CloudPart;
  readonly surface: MeshPart;
  readonly answer: DistanceSuccess;
}

const metres = (value: number) => `${shortNumber(Number(value.toPrecision(5)))} m`;

/** Statistics in the order of the table, with their names in the CSV file. */
const STATISTICS = [
  ["mean_distance", "Mean"],
  ["rmse", "Root mean square"],
  ["std_deviation", "Standard deviation"],
  ["min_distance", "Smallest"],
  ["median_distance", "Median"],
  ["percentile_90", "90 % below"],
  ["percentile_95", "95 % below"],
  ["percentile_99", "99 % below"],
  ["max_distance", "Largest"],
] as const;

/** The numbers for the terminal and the report. */
export function distanceFacts({ points, surface, answer }: Measured): Fact[] {
  const facts: Fact[] = [
    ["Cloud", points.file.name],
    ["Mesh", `${surface.file.name} (${plainNumber(surface.mesh.indices.length / 3, 0)} triangles)`],
    ["Points measured", plainNumber(answer.point_count, 0)],
    ...STATISTICS.map(([key, label]): Fact => [label, metres(answer[key])]),
  ];
  for (const { limit_m, percent } of answer.bands ?? [])
    facts.push([`Up to ${shortNumber(limit_m)} m`, `${plainNumber(percent, 2)} %`]);
  if (answer.sign_defined === false) facts.push(["Signed", "not defined: the mesh is not closed"]);
  const { signed_mean, signed_std } = answer;
  if (typeof signed_mean === "number" && typeof signed_std === "number")
    facts.push(["Signed mean, deviation", `${metres(signed_mean)}, ${metres(signed_std)} (negative inside)`]);
  return facts;
}

function statisticsCsv(answer: DistanceSuccess): string {
  const rows: (readonly [string, string, number])[] = [
    ["point_count", "", answer.point_count],
    ...STATISTICS.map(([key]) => [key, "m", answer[key]] as const),
    ...(answer.bands ?? []).map(({ limit_m, percent }) => [`within_${limit_m}_m`, "percent", percent] as const),
  ];
  const { signed_mean, signed_std } = answer;
  if (typeof signed_mean === "number") rows.push(["signed_mean", "m", signed_mean]);
  if (typeof signed_std === "number") rows.push(["signed_std", "m", signed_std]);
  return `statistic,unit,value\n${rows.map((row) => `${row.join(",")}\n`).join("")}`;
}

const histogramCsv = ({ histogram: { bin_width_m, counts } }: DistanceSuccess): string =>
  `from_m,to_m,points\n${counts.map((count, i) => `${i * bin_width_m},${(i + 1) * bin_width_m},${count}\n`).join("")}`;

interface Made {
  readonly versions: Record<string, string>;
  readonly seconds: Record<string, number>;
}

/** Writes pictures, tables, summary and report. */
export async function writeResults(
  found: Measured & { readonly copy: MeasuredCloud },
  figures: readonly NamedFigure[],
  options: DistanceOptions,
  { out, progress }: FolderRun,
  { versions, seconds }: Made,
) {
  progress.stage("Writing the report");
  const { points, surface, answer, copy } = found;
  const warnings = reportedWarnings([
    ...(answer.warnings ?? []),
    ...points.warnings,
    ...surface.warnings,
    ...copy.warnings,
  ]);
  for (const { name, png } of figures) await out.write(`${name}.png`, png);
  await out.write(STATISTICS_FILE, statisticsCsv(answer));
  await out.write(HISTOGRAM_FILE, histogramCsv(answer));
  const document = {
    cloud: { path: points.file.path, bytes: points.file.bytes, points: points.tail.point_count },
    mesh: { path: surface.file.path, bytes: surface.file.bytes, triangles: surface.mesh.indices.length / 3 },
    distances: answer,
    outputs: {
      report: out.final(REPORT_FILE),
      summary: out.final(SUMMARY_FILE),
      statistics: out.final(STATISTICS_FILE),
      histogram: out.final(HISTOGRAM_FILE),
      cloud: out.final(copy.name),
      pictures: figures.map(({ name }) => out.final(`${name}.png`)),
    },
    warnings,
    versions,
    parameters: recorded(options),
    seconds,
  };
  await out.write(SUMMARY_FILE, jsonDocument(document));
  await out.write(REPORT_FILE, await smallPage(page(found, figures, options, warnings, versions)));
  const outputs: Fact[] = [
    ["Cloud with distances", out.final(copy.name)],
    ["Tables", `${out.final(STATISTICS_FILE)}, ${HISTOGRAM_FILE}`],
    ["Report", out.final(REPORT_FILE)],
    ["Summary", out.final(SUMMARY_FILE)],
  ];
  return { document, outputs };
}

const recorded = ({ signed, bands, format, reading, points, pictureSize }: DistanceOptions) => ({
  signed,
  bands,
  format: format ?? null,
  units: reading.units ?? null,
  columns: reading.columns ?? null,
  points,
  picture_size: pictureSize,
});

function page(
  { points, surface, answer, copy }: Measured & { readonly copy: MeasuredCloud },
  figures: readonly NamedFigure[],
  options: DistanceOptions,
  warnings: readonly string[],
  versions: Record<string, string>,
): Page {
  const { reading, signed, bands } = options;
  const reproduce: Fact[] = [
    ["Cloud", inputFact(points.file)],
    ["Mesh", inputFact(surface.file)],
    ["Signed (--signed)", signed ? "yes" : "no"],
    ["Bands (--bands)", bands.length > 0 ? `${bands.join(", ")} m` : "not given"],
    ["Units (--units)", reading.units ?? "not given"],
    ["Column legend (--columns)", reading.columns ?? "not given"],
    versionsFact(versions),
  ];
  const short = (value: number) => `${shortNumber(Number(value.toPrecision(3)))} m`;
  return {
    kicker: "Distance report",
    title: `${points.file.name} to ${surface.file.name}`,
    created: new Date(),
    tiles: [
      [short(answer.median_distance), "median distance"],
      [short(answer.percentile_95), "95 % of the points below"],
      [short(answer.max_distance), "largest distance"],
      [plainNumber(answer.point_count, 0), "points"],
    ],
    warnings,
    sections: [
      { title: "Distances", facts: distanceFacts({ points, surface, answer }), note: NOTE },
      { title: "Pictures", figures },
      { title: "Reproduce", facts: reproduce },
    ],
    footer: `The cloud with its distances is in the folder of this report: ${copy.name}, column mesh_distance, metres.`,
  };
}

const NOTE =
  "Distance of each point to the closest place of the mesh, on a face, an edge or a vertex; without sign unless stated otherwise. The histogram and these numbers are also in histogram.csv and statistics.csv.";
