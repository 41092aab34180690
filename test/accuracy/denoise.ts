// How much planted noise each method finds with its default parameters, and what it takes of the cloud itself.
import { Job } from "../../backend/jobs/job.ts";
import { labelNoise, type NoiseParams } from "../../backend/native/classify/denoise.ts";
import { pointSpacing } from "../../backend/native/cloud/cloud.ts";
import type { NativeColumn } from "../../backend/native/core/handles.ts";
import { checkCriterion, measureSpacing, noiseParams } from "../../backend/services/classify/noise-criterion.ts";
import { DENOISE_METHODS, type DenoiseMethod, NoiseCriterion } from "../../shared/contract/pointcloud-denoise.ts";
import { clouds, type DenoiseCloud, type DenoiseGroup, groups } from "./denoise-data.ts";
import { NOISE, type Noise, type NoisyCloud, ownStrays, plantNoise } from "./denoise-noise.ts";
import { labelsOf, positions } from "./native.ts";
import type { Part } from "./part.ts";

const CLEAN = 1;
const FOUND = 2;

/** The parameters that the service derives from the defaults. */
export async function defaultsFor(
  column: NativeColumn,
  method: DenoiseMethod,
  origins: NativeColumn | null = null,
): Promise<NoiseParams> {
  const criterion = checkCriterion(NoiseCriterion.parse({ method }));
  const spacing = await measureSpacing({ positions: column, skip: null }, criterion, { device: "cpu" }, new Job());
  return noiseParams(criterion, spacing, 0, origins);
}

export async function labelsBy(column: NativeColumn, params: NoiseParams): Promise<Uint8Array> {
  const { noise_class } = await labelNoise(column, null, params, false).promise;
  const labels = labelsOf(noise_class);
  noise_class.release();
  return labels;
}

export async function medianSpacing(xyz: Float64Array): Promise<number> {
  const column = positions(xyz);
  const { distinct_median_m } = await pointSpacing(column, null, { max_samples: 200_000, seed: null }).promise;
  column.release();
  if (distinct_median_m === null) throw new Error("a cloud has no two points apart");
  return distinct_median_m;
}

const times = (labels: Uint8Array, wanted: number) =>
  labels.reduce((sum, value) => sum + (value === wanted ? 1 : 0), 0);

function kept(xyz: Float64Array, labels: Uint8Array): Float64Array {
  const out = new Float64Array(3 * times(labels, CLEAN));
  let to = 0;
  for (let i = 0; i < labels.length; i += 1)
    if (labels[i] === CLEAN) {
      out.set(xyz.subarray(3 * i, 3 * i + 3), to);
      to += 3;
    }
  return out;
}

/** What was found of each kind of noise, and what was taken of the cloud and of its twigs. */
export function tallies(labels: Uint8Array, cloud: DenoiseCloud, noisy: NoisyCloud, strays?: Uint8Array) {
  const own = new Tally();
  const supported = new Tally();
  const twigs = new Tally();
  const planted = NOISE.map(() => new Tally());
  labels.forEach((value, i) => {
    (planted[(noisy.kind[i] ?? 0) - 1] ?? own).add(value === FOUND);
    if (noisy.kind[i] === 0 && cloud.twig?.[noisy.of[i] ?? -1]) twigs.add(value === CLEAN);
    if (noisy.kind[i] === 0 && strays?.[noisy.of[i] ?? -1] === 0) supported.add(value === CLEAN);
  });
  return { own, supported, twigs, planted };
}

/** Points of one kind, and how many of them were labelled noise. */
class Tally {
  all = 0;
  found = 0;
  add(isFound: boolean): void {
    this.all += 1;
    this.found += isFound ? 1 : 0;
  }
}
/** Null where there is nothing to count. */
export const share = ({ all, found }: Pick<Tally, "all" | "found">) => (all > 0 ? found / all : null);

/** Shares are of 1. */
export interface DenoiseRow {
  readonly method: DenoiseMethod;
  readonly group: DenoiseGroup;
  readonly name: string;
  /** True if the method knew where the beams come from. */
  readonly beams: boolean;
  readonly cpu_s: number;
  readonly points: number;
  readonly recall: Readonly<Record<Noise, number | null>>;
  readonly recall_all: number | null;
  readonly twigs_kept: number | null;
  readonly cloud_kept: number;
  /** The same without points that are as far from all others as planted noise; null where every point is known. */
  readonly supported_kept: number | null;
  /** Of what was left, how much a second pass takes. */
  readonly second_pass: number;
}

/** Figures of one method on one cloud with planted noise. */
async function measure(
  method: DenoiseMethod,
  cloud: DenoiseCloud,
  noisy: NoisyCloud,
  origins: Float64Array | null,
): Promise<DenoiseRow> {
  const column = positions(noisy.xyz);
  const params = await defaultsFor(column, method, origins && positions(origins));
  const started = process.cpuUsage();
  const labels = await labelsBy(column, params);
  const { user, system } = process.cpuUsage(started);
  column.release();
  const strays = cloud.generated ? undefined : ownStrays(cloud.xyz, cloud.clearance_m);
  const { own, supported, twigs, planted } = tallies(labels, cloud, noisy, strays);
  const rest = kept(noisy.xyz, labels);
  const again = positions(rest);
  const left = origins && positions(origins.length === 3 ? origins : kept(origins, labels));
  const second = times(await labelsBy(again, await defaultsFor(again, method, left)), FOUND);
  again.release();
  const sum = (key: "all" | "found") => planted.reduce((total, tally) => total + tally[key], 0);
  return {
    method,
    group: cloud.group,
    name: cloud.name,
    beams: origins !== null,
    cpu_s: (user + system) / 1e6,
    points: labels.length,
    recall: Object.fromEntries(NOISE.map((name, i) => [name, share(planted[i] ?? own)])) as DenoiseRow["recall"],
    recall_all: share({ all: sum("all"), found: sum("found") }),
    twigs_kept: share(twigs),
    cloud_kept: 1 - own.found / own.all,
    supported_kept: share(supported),
    second_pass: second / (rest.length / 3),
  };
}

export const percent = (value: number | null, digits = 1) => (value === null ? "" : (100 * value).toFixed(digits));

function tables(rows: readonly DenoiseRow[]): string {
  const out: string[] = [];
  for (const method of new Set(rows.map((row) => row.method))) {
    out.push(`### ${method}`, "");
    out.push(
      `| cloud | points | ${NOISE.join(" | ")} | all noise | twigs kept | cloud kept | without strays | second pass |`,
    );
    out.push(`|${"---|".repeat(NOISE.length + 7)}`);
    for (const row of rows.filter((one) => one.method === method))
      out.push(
        `| ${row.name}${row.beams ? ", beams known" : ""} | ${row.points} | ${NOISE.map((name) => percent(row.recall[name])).join(" | ")} | ` +
          `${percent(row.recall_all)} | ${percent(row.twigs_kept, 2)} | ${percent(row.cloud_kept, 2)} | ${percent(row.supported_kept, 2)} | ` +
          `${percent(row.second_pass, 3)} |`,
      );
    out.push("");
  }
  return out.join("\n");
}

/** What every method should reach, on every cloud where there is something to count. */
const targetsOf = ({ recall, twigs_kept, cloud_kept, second_pass, beams }: DenoiseRow) =>
  [
    ...(beams && recall.trail !== null ? [["trail >= 80 %", recall.trail >= 0.8] as const] : []),
    ...NOISE.filter((name) => name !== "ghost edge" && name !== "trail" && recall[name] !== null).map(
      (name) => [`${name} >= 95 %`, (recall[name] ?? 0) >= 0.95] as const,
    ),
    ...(twigs_kept === null ? [] : [["twigs kept >= 99.5 %", twigs_kept >= 0.995] as const]),
    ["cloud kept >= 99.9 %", cloud_kept >= 0.999],
    ["second pass < 0.05 %", second_pass < 0.0005],
  ] as const;

export const denoisePart: Part<DenoiseRow> = {
  methods: DENOISE_METHODS,
  groups,
  async measure(methods, wanted) {
    const rows: DenoiseRow[] = [];
    for (const cloud of await clouds(wanted, medianSpacing)) {
      const noisy = plantNoise(cloud, 11);
      for (const method of DENOISE_METHODS.filter((name) => methods.includes(name))) {
        rows.push(await measure(method, cloud, noisy, null));
        if (method === "auto" && noisy.origins) rows.push(await measure(method, cloud, noisy, noisy.origins));
      }
    }
    return rows;
  },
  tables,
  targets: (rows) =>
    rows
      .flatMap((row) =>
        targetsOf(row).map(
          ([text, met]) =>
            `${met ? "reached" : "missed "}  ${row.method}, ${row.name}${row.beams ? ", beams known" : ""}: ${text}`,
        ),
      )
      .join("\n"),
};
