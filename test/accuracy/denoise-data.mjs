// Clouds that noise is planted into: generated ones whose twigs are known, and real scans taken as free of noise.
import { existsSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { root } from "../../scripts/fingerprint.mjs";
import { forestPlot, KIND } from "./denoise-plot.mjs";
import { readLas } from "./native.mjs";

const data = resolve(root, process.env.APP_TEST_DATA ?? "../shared/data");
const FOOT = 0.3048;

function plot(seed) {
  const { xyz, kind, edges } = forestPlot(seed);
  return { name: `plot ${seed}`, xyz, twig: kind.map((value) => (value === KIND.twig ? 1 : 0)), edges };
}

/** x, y and z of the first columns of a text table. */
function text(path) {
  const lines = readFileSync(join(data, path), "utf8").split("\n");
  const rows = lines.filter((line) => /^[-\d]/.test(line)).map((line) => line.trim().split(/\s+/).slice(0, 3));
  return Float64Array.from(rows.flat(), Number);
}

const las = async (path, unit = 1) => (await readLas(join(data, path), "classification", unit)).xyz;

/** The scans have lost where the scanner stood: ghost edges are made as from a place beside or above the cloud. */
const sources = {
  plot: [() => plot(1), () => plot(2)],
  tls: [
    async () => ({ name: "itsme tree 1", xyz: await las("trees_tls/itsme_tree1.las"), from: "side" }),
    () => ({ name: "itsme tree 2", xyz: text("trees_tls/itsme_tree2.txt"), from: "side" }),
    async () => ({ name: "lodgepole pines", xyz: await las("trees_tls/treeiso_LPine1_demo.laz"), from: "side" }),
    () => ({ name: "oak", xyz: text("leaf_wood/weiser_oak.xyz"), from: "side" }),
    async () => ({ name: "composite", xyz: await las("trees_composite/composite_plot_a.laz"), from: "side" }),
  ],
  als: [
    async () => ({ name: "pyfor pine", xyz: await las("als/pyfor_pine_200m.laz"), from: "above" }),
    async () => ({ name: "autzen", xyz: await las("als/autzen_trim.laz", FOOT), from: "above" }),
    async () => ({ name: "MLBS 1", xyz: await las("trees_als_idtrees/MLBS_1.las"), from: "above" }),
  ],
};

export const groups = Object.keys(sources);

/** Where ghosts trail away from: 15 m beside the cloud, or 300 m above it. */
function viewpointOf(xyz, from) {
  const ends = [0, 1, 2].map((axis) => {
    let low = Infinity;
    let high = -Infinity;
    for (let i = axis; i < xyz.length; i += 3) {
      low = Math.min(low, xyz[i]);
      high = Math.max(high, xyz[i]);
    }
    return [low, high];
  });
  const middle = ends.map(([low, high]) => (low + high) / 2);
  if (from === "above") return { viewpoint: [middle[0], middle[1], ends[2][1] + 300], range: 300 };
  return { viewpoint: [ends[0][0] - 15, middle[1], ends[2][0] + 1.5], range: 15 + (ends[0][1] - ends[0][0]) / 2 };
}

/** The clouds of some groups; says which are not there. `spacing` measures { median_m }. */
export async function clouds(wanted, spacing) {
  const found = [];
  for (const group of wanted)
    for (const load of sources[group]) {
      if (group !== "plot" && !existsSync(data)) {
        console.error(`${group} left out: there is no ${data} (APP_TEST_DATA)`);
        break;
      }
      const cloud = await load();
      const { median_m } = await spacing(cloud.xyz);
      const seen = cloud.from ? viewpointOf(cloud.xyz, cloud.from) : {};
      found.push({
        group,
        ...cloud,
        ...seen,
        spacing_m: median_m,
        clearance_m: Math.max(0.1, 5 * median_m),
        depth_m: cloud.from === "above" ? 10 : 3,
        step: seen.range ? (2 * median_m) / seen.range : undefined,
      });
    }
  return found;
}
