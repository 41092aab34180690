// How much planted noise each method finds with its default parameters, and what it takes of the cloud itself.

import { checkCriterion, measureSpacing, noiseParams } from "../../backend/services/classify/noise-criterion.ts";
import { DENOISE_METHODS, NoiseCriterion } from "../../shared/contract/pointcloud-denoise.ts";
import { clouds, groups } from "./denoise-data.mjs";
import { NOISE, plantNoise } from "./denoise-noise.mjs";
import { addon, positions, values } from "./native.mjs";

export { groups };
export const methods = DENOISE_METHODS;

const job = { track: (start) => start().promise };

/** The service's own way from the defaults to labels, on a native column. */
async function label(column, method) {
  const criterion = checkCriterion(NoiseCriterion.parse({ method }));
  const params = noiseParams(criterion, await measureSpacing({ positions: column, skip: null }, criterion, job), 0);
  const started = process.cpuUsage();
  const found = await addon.labelNoise(column, null, params, false).promise;
  const { user, system } = process.cpuUsage(started);
  const labels = values(found.noise_class);
  found.noise_class.release();
  return { labels, params, cpu_s: (user + system) / 1e6 };
}

async function spacing(xyz) {
  const column = positions(xyz);
  const { distinct_median_m } = await addon.pointSpacing(column, null, { max_samples: 200_000, seed: null }).promise;
  column.release();
  return { median_m: distinct_median_m };
}

function kept(xyz, labels) {
  const out = new Float64Array(3 * labels.reduce((sum, value) => sum + (value === 1 ? 1 : 0), 0));
  let to = 0;
  for (let i = 0; i < labels.length; i += 1)
    if (labels[i] === 1) {
      out.set(xyz.subarray(3 * i, 3 * i + 3), to);
      to += 3;
    }
  return out;
}

/** Figures of one method on one cloud with planted noise. Shares are of 1; empty where there is nothing to count. */
async function measure(method, cloud, noisy) {
  const column = positions(noisy.xyz);
  const { labels, params, cpu_s } = await label(column, method);
  column.release();
  const planted = new Array(NOISE.length + 1).fill(0);
  const found = new Array(NOISE.length + 1).fill(0);
  const twigs = { all: 0, kept: 0 };
  for (let i = 0; i < labels.length; i += 1) {
    const kind = noisy.kind[i];
    planted[kind] += 1;
    found[kind] += labels[i] === 2 ? 1 : 0;
    if (kind > 0 || !cloud.twig?.[noisy.of[i]]) continue;
    twigs.all += 1;
    twigs.kept += labels[i] === 1 ? 1 : 0;
  }
  const rest = kept(noisy.xyz, labels);
  const again = positions(rest);
  const second = (await label(again, method)).labels.reduce((sum, value) => sum + (value === 2 ? 1 : 0), 0);
  again.release();
  const all = (counts) => counts.slice(1).reduce((sum, value) => sum + value, 0);
  return {
    method,
    group: cloud.group,
    name: cloud.name,
    params,
    cpu_s,
    points: labels.length,
    recall: Object.fromEntries(NOISE.map((name, i) => [name, planted[i + 1] ? found[i + 1] / planted[i + 1] : null])),
    recall_all: all(found) / all(planted),
    twigs_kept: twigs.all > 0 ? twigs.kept / twigs.all : null,
    cloud_kept: 1 - found[0] / planted[0],
    second_pass: second / (rest.length / 3),
  };
}

/** All rows of some methods over some groups of clouds. */
export async function denoiseAccuracy({ method = methods, group = groups } = {}) {
  const rows = [];
  for (const cloud of await clouds(group, spacing)) {
    const noisy = plantNoise(cloud, 11);
    for (const name of method) rows.push(await measure(name, cloud, noisy));
  }
  return rows;
}

const percent = (share, digits = 1) => (share === null ? "" : (100 * share).toFixed(digits));

/** Tables in markdown. */
export function denoiseTables(rows) {
  const out = [];
  for (const method of new Set(rows.map((row) => row.method))) {
    out.push(`### ${method}`, "");
    out.push(`| cloud | points | ${NOISE.join(" | ")} | all noise | twigs kept | cloud kept | second pass |`);
    out.push(`|${"---|".repeat(NOISE.length + 6)}`);
    for (const row of rows.filter((one) => one.method === method))
      out.push(
        `| ${row.name} | ${row.points} | ${NOISE.map((name) => percent(row.recall[name])).join(" | ")} | ` +
          `${percent(row.recall_all)} | ${percent(row.twigs_kept, 2)} | ${percent(row.cloud_kept, 2)} | ` +
          `${percent(row.second_pass, 3)} |`,
      );
    out.push("");
  }
  return out.join("\n");
}

/** Which targets each method reaches on which clouds. */
export function denoiseTargets(rows) {
  return rows
    .flatMap((row) =>
      [
        ["recall >= 95 %", row.recall_all >= 0.95],
        ...(row.twigs_kept === null ? [] : [["twigs kept >= 99.5 %", row.twigs_kept >= 0.995]]),
        ["second pass < 0.05 %", row.second_pass < 0.0005],
      ].map(([text, met]) => `${met ? "reached" : "missed "}  ${row.method}, ${row.name}: ${text}`),
    )
    .join("\n");
}
