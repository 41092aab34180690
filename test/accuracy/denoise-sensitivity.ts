// What 0.8 and 1.25 times each constant of the noise method `auto` change.
import type { MixedPixelParams, NoiseParams } from "../../backend/native/classify/denoise.ts";
import { defaultsFor, labelsBy, medianSpacing, percent, share, tallies } from "./denoise.ts";
import { clouds, groups } from "./denoise-data.ts";
import { NOISE, type Noise, plantNoise } from "./denoise-noise.ts";
import { positions } from "./native.ts";
import type { Part } from "./part.ts";

const CONSTANTS = [
  "nb_neighbors",
  "link_factor",
  "ball_factor",
  "most_thin",
  "min_ball_link",
  "most_uneven",
  "surface_factor",
  "min_link",
  "max_link",
  "cluster_points",
  "gap_factor",
] as const satisfies readonly (keyof Extract<NoiseParams, { method: "auto" }>)[];
/** Those for mixed pixels, measured on the clouds whose trails and beams are known. */
const BEAM_CONSTANTS = [
  "max_spacing",
  "support_steps",
  "support_slope",
  "edge_steps",
  "edge_depth",
  "edge_support",
  "line_steps",
  "line_slope",
  "line_tolerance",
] as const satisfies readonly (keyof MixedPixelParams)[];
const FACTORS = [0.8, 1.25] as const;
const WHOLE: readonly string[] = ["nb_neighbors", "cluster_points"];

export interface SensitivityRow {
  readonly cloud: string;
  /** "as set", or a constant and its factor. */
  readonly change: string;
  readonly recall: Readonly<Record<Noise, number | null>>;
  readonly twigs_kept: number | null;
  readonly cloud_kept: number;
}

type AutoParams = Extract<NoiseParams, { method: "auto" }>;

function* changes(params: AutoParams, constants: readonly string[]): Generator<{ change: string; params: AutoParams }> {
  const { beams } = params;
  if (beams) {
    yield { change: "beams known, as set", params };
    for (const name of BEAM_CONSTANTS.filter((one) => constants.includes(one)))
      for (const factor of name === "edge_support" ? [0.5, 1.5] : FACTORS)
        yield {
          change: `${name} x ${factor}`,
          params: { ...params, beams: { ...beams, [name]: beams[name] * factor } },
        };
    return;
  }
  yield { change: "as set", params };
  for (const name of CONSTANTS.filter((one) => constants.includes(one)))
    for (const factor of FACTORS) {
      const value = params[name] * factor;
      const changed = { ...params, [name]: WHOLE.includes(name) ? Math.round(value) : value };
      yield {
        change: `${name} x ${factor}`,
        params: { ...changed, max_link: Math.max(changed.min_link, changed.max_link) },
      };
    }
}

const of = (values: readonly (number | null)[]) => values.filter((value) => value !== null);
const mean = (values: readonly number[]) => (values.length ? values.reduce((a, b) => a + b) / values.length : null);
const least = (values: readonly number[]) => (values.length ? Math.min(...values) : null);

function tables(rows: readonly SensitivityRow[]): string {
  const out = [
    `| change | ${NOISE.map((name) => `${name}, mean`).join(" | ")} | twigs kept, least | cloud kept, least |`,
    `|${"---|".repeat(NOISE.length + 3)}`,
  ];
  for (const change of new Set(rows.map((row) => row.change))) {
    const same = rows.filter((row) => row.change === change);
    const recall = NOISE.map((name) => percent(mean(of(same.map((row) => row.recall[name])))));
    const twigs = percent(least(of(same.map((row) => row.twigs_kept))), 2);
    out.push(
      `| ${change} | ${recall.join(" | ")} | ${twigs} | ${percent(least(same.map((row) => row.cloud_kept)), 2)} |`,
    );
  }
  return out.join("\n");
}

export const sensitivityPart: Part<SensitivityRow> = {
  methods: [...CONSTANTS, ...BEAM_CONSTANTS],
  groups,
  async measure(constants, wanted) {
    const rows: SensitivityRow[] = [];
    for (const cloud of await clouds(wanted, medianSpacing)) {
      const noisy = plantNoise(cloud, 11);
      const column = positions(noisy.xyz);
      const origins = cloud.trails?.length && noisy.origins ? positions(noisy.origins) : null;
      const set = await defaultsFor(column, "auto", origins);
      if (set.method !== "auto") throw new Error("auto has the parameters of another method");
      for (const { change, params } of changes(set, constants)) {
        const { own, twigs, planted } = tallies(await labelsBy(column, params), cloud, noisy);
        const recall = Object.fromEntries(NOISE.map((name, i) => [name, share(planted[i] ?? own)]));
        rows.push({
          cloud: cloud.name,
          change,
          recall: recall as SensitivityRow["recall"],
          twigs_kept: share(twigs),
          cloud_kept: 1 - own.found / own.all,
        });
      }
      column.release();
    }
    return rows;
  },
  tables,
  targets: () => "",
};
