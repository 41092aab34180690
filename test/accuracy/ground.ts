// Ground filters against clouds with known ground: a table per method, and docs/accuracy.md.
import * as ground from "../../backend/native/classify/ground.ts";
import type { NativeColumn, NativeJob } from "../../backend/native/core/handles.ts";
import { derivedCloth } from "../../backend/services/classify/ground-filter.ts";
import { clouds, type GroundCloud, type GroundGroup, groups } from "./ground-data.ts";
import { labelsOf, positions } from "./native.ts";
import type { Part } from "./part.ts";
import { confusion, type Scores, scores } from "./scores.ts";
import { dtmErrors, type KnownTerrain, planesRmse, shareAbove } from "./terrain-error.ts";

const CLOTH: ground.ClothParams = {
  cloth_resolution: 0.05,
  rigidness: 3,
  class_threshold: 0.02,
  iterations: 500,
  slope_smooth: false,
  auto_class_threshold: false,
  ignore_low_outliers: true,
  want_heights: false,
  tile_min_points: 4_000_000,
  tile_target_points: 3_000_000,
};
/** What the client proposes for airborne clouds and for terrestrial ones: contract, classification section 2. */
const AIRBORNE = { ...CLOTH, cloth_resolution: 0.75, rigidness: 1, class_threshold: 0.5, slope_smooth: true };
const TERRESTRIAL = { ...CLOTH, cloth_resolution: 0.1, auto_class_threshold: true };
const FROM_THE_GROUND: readonly GroundGroup[] = ["tls", "forest", "walked", "thicket"];
/** One parameter set for all: Pingel et al. 2013, table 4. */
const SMRF: ground.SmrfParams = {
  cell_size: 1,
  slope: 0.15,
  window_radius: 18,
  elevation_threshold: 0.5,
  elevation_scale: 1.25,
  net_spacing: 0,
};

/** Labels, and what a method derived from the cloud. */
interface Found {
  readonly ground_class: NativeColumn;
  readonly low_outliers: number;
  readonly hidden_share?: number | null;
  readonly derived?: object;
}
type Method = (xyz: NativeColumn, cloud: GroundCloud) => NativeJob<Found> | Promise<NativeJob<Found>>;

const METHODS: Readonly<Record<string, Method>> = {
  auto: (xyz) => ground.groundAuto(xyz, null),
  smrf: (xyz) => ground.smrf(xyz, null, SMRF),
  cloth: (xyz, { group }) =>
    ground.clothSimulation(xyz, null, FROM_THE_GROUND.includes(group) ? TERRESTRIAL : AIRBORNE),
  // What the endpoint derives from a cloud: docs/adr/0014.
  derived: async (xyz) => {
    const measures = await ground.groundMeasures(xyz, null).promise;
    return ground.clothSimulation(xyz, null, { ...CLOTH, ...derivedCloth(measures) });
  },
};

/** Errors of the terrain, metres: of the service's DTM, of its plain cells, of planes through the nearest points. */
interface TerrainErrors {
  readonly dtm: number;
  /** Mean error of `dtm`. */
  readonly bias: number;
  readonly plain: number;
  readonly planes: number;
}

export interface GroundRow extends Scores {
  readonly method: string;
  readonly group: GroundGroup;
  readonly name: string;
  readonly seconds: number;
  readonly low_outliers: number;
  /** Share of the area where ground was hardly seen; null: not measured. */
  readonly hidden: number | null;
  readonly derived?: object;
  /** Share of the ground labels more than 0.5 m above the ground, where its height is known. */
  readonly too_high?: number;
  /** Where the exact height is known. */
  readonly rmse_m?: TerrainErrors;
  /** The same of the true labels. */
  readonly rmse_truth_m?: TerrainErrors;
}

async function terrainErrors(terrain: KnownTerrain, labels: Uint8Array): Promise<TerrainErrors> {
  const { rmse: dtm, bias } = await dtmErrors(terrain, labels);
  const { rmse: plain } = await dtmErrors(terrain, labels, false);
  return { dtm, bias, plain, planes: planesRmse(terrain, labels) };
}

/** All methods on one cloud. */
async function measureCloud(cloud: GroundCloud, methods: readonly string[]): Promise<GroundRow[]> {
  const { group, name, terrain, truth } = cloud;
  const ofTruth = terrain && { rmse_truth_m: await terrainErrors(terrain, truth) };
  const rows: GroundRow[] = [];
  for (const [method, filter] of Object.entries(METHODS).filter(([known]) => methods.includes(known))) {
    const xyz = positions(cloud.xyz);
    const started = performance.now();
    const { ground_class, derived, low_outliers, hidden_share = null } = await (await filter(xyz, cloud)).promise;
    const seconds = (performance.now() - started) / 1000;
    const labels = labelsOf(ground_class);
    ground_class.release();
    xyz.release();
    rows.push({
      method,
      group,
      name,
      ...scores(confusion(truth, labels)),
      seconds,
      low_outliers,
      hidden: hidden_share,
      ...(terrain && { too_high: shareAbove(terrain, labels, 0.5) }),
      ...(terrain && { rmse_m: await terrainErrors(terrain, labels), ...ofTruth }),
      ...(derived && { derived }),
    });
  }
  return rows;
}

const FIGURES = ["kappa", "typeI", "typeII", "total", "precision", "recall", "f1"] as const;
type Rows = readonly GroundRow[];
const mean = (rows: Rows, figure: keyof Scores) => rows.reduce((sum, row) => sum + row[figure], 0) / rows.length;
const ofGroup = (rows: Rows, group: GroundGroup) => rows.filter((row) => row.group === group);
const named = (rows: Rows, name: string) => rows.filter((row) => row.name === name);

/** Targets of the automatic filter. */
const TARGETS: readonly (readonly [string, (rows: Rows) => boolean])[] = [
  ["ISPRS mean kappa >= .88", (rows) => mean(ofGroup(rows, "isprs"), "kappa") >= 0.88],
  ["ISPRS mean kappa >= .90", (rows) => mean(ofGroup(rows, "isprs"), "kappa") >= 0.9],
  ["ISPRS worst kappa >= .75", (rows) => ofGroup(rows, "isprs").every((row) => row.kappa >= 0.75)],
  ["ISPRS mean total error <= 4.5 %", (rows) => mean(ofGroup(rows, "isprs"), "total") <= 0.045],
  ["ISPRS worst sample <= 10 %", (rows) => ofGroup(rows, "isprs").every((row) => row.total <= 0.1)],
  [
    "plots: precision and recall >= .99",
    (rows) => ofGroup(rows, "tls").every((r) => r.precision >= 0.99 && r.recall >= 0.99),
  ],
  ["autzen F1 >= .93", (rows) => named(rows, "autzen").every((row) => row.f1 >= 0.93)],
  ["pyfor F1 >= .95", (rows) => named(rows, "pyfor pine").every((row) => row.f1 >= 0.95)],
  [
    "walked forest: DTM RMSE <= 0.15 m",
    (rows) => named(rows, "walked forest").every(({ rmse_m }) => rmse_m !== undefined && rmse_m.dtm <= 0.15),
  ],
  [
    "forest plots: DTM RMSE <= 0.02 m",
    (rows) => ofGroup(rows, "forest").every(({ rmse_m }) => rmse_m !== undefined && rmse_m.dtm <= 0.02),
  ],
  ["bare fields: recall >= .98", (rows) => ofGroup(rows, "bare").every((row) => row.recall >= 0.98)],
  [
    "relief: DTM RMSE <= 0.10 m",
    (rows) => ofGroup(rows, "relief").every(({ rmse_m }) => rmse_m !== undefined && rmse_m.dtm <= 0.1),
  ],
];

const three = (value: number | undefined) => (value === undefined ? "" : value.toFixed(3));
const percent = (value: number) => (100 * value).toFixed(1);
type Line = Scores & Pick<GroundRow, "name" | "rmse_m" | "rmse_truth_m">;
const line = (row: Line) =>
  `| ${row.name} | ${three(row.kappa)} | ${percent(row.typeI)} | ${percent(row.typeII)} | ${percent(row.total)} | ` +
  `${three(row.precision)} | ${three(row.recall)} | ${three(row.f1)} | ${three(row.rmse_m?.dtm)} | ${three(row.rmse_truth_m?.dtm)} | ` +
  `${three(row.rmse_m?.plain)} | ${three(row.rmse_truth_m?.plain)} | ${three(row.rmse_m?.planes)} | ${three(row.rmse_truth_m?.planes)} |`;

/** How high the labelled ground is, on the clouds where that is known. */
function heightTable(rows: Rows): string[] {
  const known = rows.filter((row) => row.rmse_m !== undefined);
  if (known.length === 0) return [];
  return [
    "| cloud | DTM RMSE m | with true labels | DTM bias m | ground > 0.5 m too high % | low outliers | ground hidden % |",
    "|---|---|---|---|---|---|---|",
    ...known.map(
      ({ name, rmse_m, rmse_truth_m, too_high, low_outliers, hidden }) =>
        `| ${name} | ${three(rmse_m?.dtm)} | ${three(rmse_truth_m?.dtm)} | ${three(rmse_m?.bias)} | ` +
        `${percent(too_high ?? Number.NaN)} | ${low_outliers} | ${hidden === null ? "" : percent(hidden)} |`,
    ),
  ];
}

function tables(rows: Rows): string {
  const out: string[] = [];
  for (const method of new Set(rows.map((row) => row.method))) {
    const own = rows.filter((row) => row.method === method);
    const isprs = ofGroup(own, "isprs");
    out.push(`### ${method}`, "");
    out.push(
      "| cloud | kappa | type I % | type II % | total % | precision | recall | F1 | DTM RMSE m | with true labels | " +
        "plain cells m | with true labels | of planes m | with true labels |",
    );
    out.push("|---|---|---|---|---|---|---|---|---|---|---|---|---|---|", ...own.map(line));
    if (isprs.length > 0) {
      const means = Object.fromEntries(FIGURES.map((figure) => [figure, mean(isprs, figure)])) as unknown as Scores;
      out.push(line({ name: "**ISPRS mean**", ...means }));
    }
    out.push("", ...heightTable(own), "");
  }
  return out.join("\n");
}

export const groundPart: Part<GroundRow> = {
  methods: Object.keys(METHODS),
  groups,
  async measure(methods, wanted) {
    const rows: GroundRow[] = [];
    for (const cloud of await clouds(wanted)) rows.push(...(await measureCloud(cloud, methods)));
    return rows;
  },
  tables,
  targets(rows) {
    const own = rows.filter((row) => row.method === "auto");
    return TARGETS.map(([text, met]) => `${met(own) ? "reached" : "missed "}  ${text}`).join("\n");
  },
};
