// Ground filters against clouds with known ground: a table per method, and docs/accuracy.md.
import { clouds, groups } from "./ground-data.mjs";
import { addon, column, positions, values } from "./native.mjs";
import { confusion, dtmRmse, planesRmse, scores } from "./scores.mjs";

const CLOTH = {
  cloth_resolution: 0.05,
  rigidness: 3,
  class_threshold: 0.02,
  iterations: 500,
  slope_smooth: false,
  auto_class_threshold: false,
  want_heights: false,
  tile_min_points: 4_000_000,
  tile_target_points: 3_000_000,
};
/** What the client proposes for airborne clouds and for terrestrial ones: contract, classification section 2. */
const AIRBORNE = { ...CLOTH, cloth_resolution: 0.75, rigidness: 1, class_threshold: 0.5, slope_smooth: true };
const TERRESTRIAL = { ...CLOTH, cloth_resolution: 0.1, auto_class_threshold: true };
/** One parameter set for all: Pingel et al. 2013, table 4. */
const SMRF = {
  cell_size: 1,
  slope: 0.15,
  window_radius: 18,
  elevation_threshold: 0.5,
  elevation_scale: 1.25,
  net_spacing: 0,
};

/** What the endpoint derives from a cloud: docs/adr/0014. */
async function derivedCloth(xyz) {
  const { point_spacing_m, steepness } = await addon.groundMeasures(xyz, null).promise;
  const steep = steepness > Math.tan(Math.PI / 18);
  const clip = (value, low, high) => Math.min(high, Math.max(low, value));
  return {
    ...CLOTH,
    cloth_resolution: clip(2 * point_spacing_m, 0.1, 0.5),
    rigidness: steep ? 1 : 3,
    class_threshold: clip(point_spacing_m / 2, 0.08, 0.5),
    slope_smooth: steep,
  };
}

export const methods = {
  auto: (xyz) => addon.groundAuto(xyz, null),
  smrf: (xyz) => addon.smrf(xyz, null, SMRF),
  cloth: (xyz, cloud) => addon.clothSimulation(xyz, null, cloud.group === "tls" ? TERRESTRIAL : AIRBORNE),
  derived: async (xyz) => addon.clothSimulation(xyz, null, await derivedCloth(xyz)),
};

const mean = (rows, figure) => rows.reduce((sum, row) => sum + row[figure], 0) / rows.length;

/** Targets of the automatic filter. */
const targets = [
  ["ISPRS mean kappa >= .88", (rows) => mean(ofGroup(rows, "isprs"), "kappa") >= 0.88],
  ["ISPRS mean total error <= 4.5 %", (rows) => mean(ofGroup(rows, "isprs"), "total") <= 0.045],
  ["ISPRS worst sample <= 10 %", (rows) => ofGroup(rows, "isprs").every((row) => row.total <= 0.1)],
  [
    "plots: precision and recall >= .99",
    (rows) => ofGroup(rows, "tls").every((r) => r.precision >= 0.99 && r.recall >= 0.99),
  ],
  ["autzen F1 >= .93", (rows) => named(rows, "autzen").every((row) => row.f1 >= 0.93)],
  ["pyfor F1 >= .95", (rows) => named(rows, "pyfor pine").every((row) => row.f1 >= 0.95)],
  ["relief: DTM RMSE <= 0.10 m", (rows) => ofGroup(rows, "relief").every((row) => row.rmse_m.dtm <= 0.1)],
];
const ofGroup = (rows, group) => rows.filter((row) => row.group === group);
const named = (rows, name) => rows.filter((row) => row.name === name);

async function measure(method, cloud) {
  const xyz = positions(cloud.xyz);
  const started = performance.now();
  const result = await (await methods[method](xyz, cloud)).promise;
  const seconds = (performance.now() - started) / 1000;
  const labels = values(result.ground_class);
  result.ground_class.release();
  xyz.release();
  const row = { method, group: cloud.group, name: cloud.name, ...scores(confusion(cloud.truth, labels)), seconds };
  if (cloud.height) {
    const native = { terrainRaster: (...all) => addon.terrainRaster(...all), positions, column, values };
    const all = async (given) => ({
      dtm: await dtmRmse(cloud, given, native),
      plain: await dtmRmse(cloud, given, native, false),
      planes: planesRmse(cloud, given),
    });
    row.rmse_m = await all(labels);
    cloud.rmseOfTruth ??= await all(cloud.truth);
    row.rmse_truth_m = cloud.rmseOfTruth;
  }
  if (result.derived) row.derived = result.derived;
  return row;
}

/** All rows of some methods over some groups of clouds. */
export async function groundAccuracy({ method = Object.keys(methods), group = groups } = {}) {
  const rows = [];
  for (const cloud of await clouds(group)) for (const name of method) rows.push(await measure(name, cloud));
  return rows;
}

const three = (value) => (value === undefined ? "" : value.toFixed(3));
const percent = (value) => (100 * value).toFixed(1);
const line = (row) =>
  `| ${row.name} | ${three(row.kappa)} | ${percent(row.typeI)} | ${percent(row.typeII)} | ${percent(row.total)} | ` +
  `${three(row.precision)} | ${three(row.recall)} | ${three(row.f1)} | ${three(row.rmse_m?.dtm)} | ${three(row.rmse_truth_m?.dtm)} | ` +
  `${three(row.rmse_m?.plain)} | ${three(row.rmse_truth_m?.plain)} | ${three(row.rmse_m?.planes)} | ${three(row.rmse_truth_m?.planes)} |`;

/** Tables in markdown. */
export function groundTables(rows) {
  const out = [];
  for (const method of new Set(rows.map((row) => row.method))) {
    const own = rows.filter((row) => row.method === method);
    const isprs = ofGroup(own, "isprs");
    out.push(`### ${method}`, "");
    out.push(
      "| cloud | kappa | type I % | type II % | total % | precision | recall | F1 | DTM RMSE m | with true labels | " +
        "plain cells m | with true labels | of planes m | with true labels |",
    );
    out.push("|---|---|---|---|---|---|---|---|---|---|---|---|---|---|", ...own.map(line));
    if (isprs.length > 0)
      out.push(
        line({
          name: "**ISPRS mean**",
          ...Object.fromEntries(
            ["kappa", "typeI", "typeII", "total", "precision", "recall", "f1"].map((key) => [key, mean(isprs, key)]),
          ),
        }),
      );
    out.push("");
  }
  return out.join("\n");
}

/** Which targets the automatic filter reaches, of those that the rows can tell. */
export function groundTargets(rows) {
  const own = rows.filter((row) => row.method === "auto");
  return targets.map(([text, met]) => `${met(own) ? "reached" : "missed "}  ${text}`).join("\n");
}
