// The clouds with known ground: { name, group, xyz (metres), truth (1 ground, 2 not, 0 unknown), height?, side? }.
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { root } from "../../scripts/fingerprint.mjs";
import { buildProgram, plotFiles } from "../bench/native.mjs";
import { readLas, readLasHeader, readPcd } from "./native.mjs";
import { relief } from "./relief.mjs";

const data = resolve(root, process.env.APP_TEST_DATA ?? "../shared/data");
const INTERNATIONAL_FOOT = 0.3048;

/** The ISPRS filter test (Sithole & Vosselman 2004); the ground file is the exact subset. */
async function isprs(number) {
  const folder = join(data, "ground_isprs");
  const xyz = await readPcd(join(folder, `samp${number}-utm.pcd`));
  const ground = await readPcd(join(folder, `samp${number}-utm-ground.pcd`));
  const key = (points, i) => `${points[3 * i]} ${points[3 * i + 1]} ${points[3 * i + 2]}`;
  const known = new Set();
  for (let i = 0; i < ground.length / 3; i += 1) known.add(key(ground, i));
  const truth = Uint8Array.from({ length: xyz.length / 3 }, (_, i) => (known.has(key(xyz, i)) ? 1 : 2));
  return { name: `samp${number}`, group: "isprs", xyz, truth };
}

async function las(name, group, path, column, classes, unit = 1) {
  const cloud = await readLas(join(data, path), column, unit);
  return { name, group, xyz: cloud.xyz, truth: Uint8Array.from(cloud.column, classes) };
}

/** Class 2 is ground; 7 and 18 are noise, counted as no ground. */
const asprs = (value) => (value === 2 ? 1 : 2);

async function autzen() {
  const path = "als/autzen_trim.laz";
  const unit = (await readLasHeader(join(data, path))).crs.unit_m ?? INTERNATIONAL_FOOT;
  return las("autzen", "als", path, "classification", asprs, unit);
}

async function plot() {
  buildProgram();
  const cloud = await readLas((await plotFiles(1_000_000)).las, "classification");
  return { name: "plot 1M", group: "tls", xyz: cloud.xyz, truth: Uint8Array.from(cloud.column, asprs) };
}

const sources = {
  isprs: ["11", "21", "31", "53", "71"].map((number) => () => isprs(number)),
  als: [autzen, () => las("pyfor pine", "als", "als/pyfor_pine_200m.laz", "classification", asprs)],
  tls: [plot, () => las("composite", "tls", "trees_composite/composite_plot_a.laz", "ground_class", (value) => value)],
  relief: [
    async () => ({ name: "relief gentle", group: "relief", ...relief(1, 0.5) }),
    async () => ({ name: "relief hilly", group: "relief", ...relief(2, 1) }),
    async () => ({ name: "relief rugged", group: "relief", ...relief(3, 1.5) }),
  ],
};

export const groups = Object.keys(sources);

/** Reads or makes the clouds of some groups; says which are not there. */
export async function clouds(wanted = groups) {
  const found = [];
  for (const group of wanted) {
    for (const load of sources[group]) {
      if (group !== "relief" && !existsSync(data)) {
        console.error(`${group} left out: there is no ${data} (APP_TEST_DATA)`);
        break;
      }
      found.push(await load());
    }
  }
  return found;
}
