// Registration of two scans of one forest that differ: in time (growth, thinning, leaves), in place, or in what carried the
// scanner. Through the service, with its defaults, from starts near and far.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { Job } from "../../backend/jobs/job.ts";
import type { Client } from "../../shared/client/index.ts";
import { scannedFromAir } from "./air-scan.ts";
import { withService } from "./backend.ts";
import { STANDS, type StandKind } from "./forest/layout.ts";
import { buildScene, type Scene, type SceneChange, scan, tripods } from "./forest/scene.ts";
import type { TreePlan } from "./forest/tree.ts";
import type { Part } from "./part.ts";
import { plyOf } from "./ply.ts";
import { centroid, composed, errorsOf, placed } from "./pose-errors.ts";
import { gaussian, uniform } from "./random.ts";

const SIDE_M = 60;
/** Tripods stand about the middle, on a square of so many metres; points up to the second length from the edge are kept. */
const TRIPODS_M = 30;
const EDGE_M = 5;
const EVERY = 16;
const NOISE_M = 0.003;
const AIR_PER_M2 = 10;
const SEED = Number(process.env.STAND_SEED ?? 1);
/** Right: closer than this at the centroid, and less than one degree off. */
const RIGHT_M = 0.1;
const STARTS = 3;

/** Five years: diameters by 8 %, heights by 6 %. */
const grown = (plan: TreePlan): TreePlan => ({
  ...plan,
  diameter_m: 1.08 * plan.diameter_m,
  height_m: 1.06 * plan.height_m,
  crown_base_m: 1.1 * plan.crown_base_m,
  crown_radius_m: 1.06 * plan.crown_radius_m,
});
const CHANGES = {
  now: {},
  grown: { plan: grown },
  thinned: { plan: (plan) => (plan.id % 5 < 2 ? null : plan) },
  bare: { hasLeaves: ({ species }) => species.is_conifer },
} as const satisfies Readonly<Record<string, SceneChange>>;
type When = keyof typeof CHANGES;

/** A scan: the state of the forest, and tripods (how many, and how far aside of the others) or null = from the air. */
interface Scanned {
  readonly when: When;
  readonly tripods: readonly [count: number, aside_m: number] | null;
}
const ground = (when: When, count = 4, aside = 2): Scanned => ({ when, tripods: [count, aside] });
const air = (when: When): Scanned => ({ when, tripods: null });
const FIRST = ground("now", 4, 0);
/** What stays, and what is moved onto it. */
const PAIRS = {
  "other tripods": [FIRST, ground("now")],
  "grown five years": [FIRST, ground("grown")],
  "two of five felled": [FIRST, ground("thinned")],
  "leaves fallen": [FIRST, ground("bare")],
  "one tripod each": [ground("now", 1, 0), ground("now", 1)],
  "from the air, grown": [air("now"), air("grown")],
  "from the air and from tripods": [air("now"), FIRST],
} as const satisfies Readonly<Record<string, readonly [Scanned, Scanned]>>;
type PairName = keyof typeof PAIRS;

interface CampaignRow {
  readonly stand: StandKind;
  readonly pair: PairName;
  /** Of STARTS starts up to 20 degrees and 3 m off, and of as many from any heading and up to 10 m off: right poses. */
  readonly near: number;
  readonly far: number;
  /** Of the right poses: the largest errors. */
  readonly degrees: number;
  readonly length_m: number;
  /** Right ones that are called wrong; wrong ones that are not. */
  readonly alarms: number;
  readonly untold: number;
  /** Poses that were checked by a search, and where the iterations began anew. */
  readonly checked: number;
  readonly anew: number;
  readonly seconds: number;
}

class Forest {
  readonly #kind: StandKind;
  readonly #job = new Job();
  readonly #scenes = new Map<When, Promise<Scene>>();
  readonly #scans = new Map<string, Promise<Float64Array>>();

  constructor(kind: StandKind) {
    this.#kind = kind;
  }

  scan(what: Scanned): Promise<Float64Array> {
    const key = JSON.stringify(what);
    const made = this.#scans.get(key) ?? this.#made(what);
    this.#scans.set(key, made);
    return made;
  }

  #scene(when: When): Promise<Scene> {
    const built = this.#scenes.get(when) ?? buildScene(this.#kind, SEED, SIDE_M, this.#job, CHANGES[when]);
    this.#scenes.set(when, built);
    return built;
  }

  async #made({ when, tripods: stands }: Scanned): Promise<Float64Array> {
    const scene = await this.#scene(when);
    if (!stands) return scannedFromAir(scene, SIDE_M, AIR_PER_M2, this.#job);
    const [count, aside] = stands;
    const [dx, dy] = [(SIDE_M - TRIPODS_M) / 2 + aside, (SIDE_M - TRIPODS_M) / 2 - aside];
    const plans = scene.plans.map((plan) => ({ ...plan, x: plan.x - dx, y: plan.y - dy }));
    const places = tripods(count, TRIPODS_M, plans, (x, y) => scene.ground(x + dx, y + dy));
    const kept: number[] = [];
    const next = uniform(100 + count + aside);
    for (const [k, [x, y, z]] of places.entries()) {
      const { xyz } = await scan(scene, [x + dx, y + dy, z], k, EVERY, this.#job);
      for (let i = 0; i < xyz.length; i += 3) {
        const point = [xyz[i] ?? 0, xyz[i + 1] ?? 0, xyz[i + 2] ?? 0];
        if (point.slice(0, 2).some((at) => at < EDGE_M || at > SIDE_M - EDGE_M)) continue;
        kept.push(...point.map((at) => at + NOISE_M * gaussian(next)));
      }
    }
    return Float64Array.from(kept);
  }

  async release(): Promise<void> {
    for (const scene of this.#scenes.values()) (await scene).scene.release();
  }
}

/** A turn by `heading` degrees and a tilt of up to two about a place, then a shift. */
function motion(heading: number, tilt: number, [x, y, z]: readonly number[], shift: readonly number[]): number[] {
  const [a, t] = [(heading * Math.PI) / 180, (tilt * Math.PI) / 180];
  const [c, s, d, u] = [Math.cos(a), Math.sin(a), Math.cos(t), Math.sin(t)];
  const turn = [c, -s * d, s * u, 0, s, c * d, -c * u, 0, 0, u, d, 0, 0, 0, 0, 1];
  const to = [1, 0, 0, -(x ?? 0), 0, 1, 0, -(y ?? 0), 0, 0, 1, -(z ?? 0), 0, 0, 0, 1];
  const [p, q, r] = [x, y, z].map((value, k) => (value ?? 0) + (shift[k] ?? 0));
  return composed([1, 0, 0, p ?? 0, 0, 1, 0, q ?? 0, 0, 0, 1, r ?? 0, 0, 0, 0, 1], composed(turn, to));
}

async function sessionOf(client: Client, folder: string, xyz: Float64Array): Promise<string> {
  const source_path = join(folder, `${Math.random()}.ply`);
  writeFileSync(source_path, plyOf(xyz));
  return (await client.createSession({ source_path })).session_id;
}

const NOTHING: readonly number[] = [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1];

async function rowOf(client: Client, folder: string, forest: Forest, stand: StandKind, pair: PairName) {
  const [fixed, moving] = [await forest.scan(PAIRS[pair][0]), await forest.scan(PAIRS[pair][1])];
  const middle = centroid(moving);
  const target = await sessionOf(client, folder, fixed);
  const next = uniform(7);
  const within = (most: number) => most * (2 * next() - 1);
  const row = { near: 0, far: 0, degrees: 0, length_m: 0, alarms: 0, untold: 0, checked: 0, anew: 0, seconds: 0 };
  for (let k = 0; k < 2 * STARTS; k += 1) {
    const is_near = k < STARTS;
    const reach = is_near ? 3 : 10;
    const before = motion(within(is_near ? 20 : 180), within(2), middle, [within(reach), within(reach), within(1)]);
    const xyz = new Float64Array(moving.length);
    for (let i = 0; i < moving.length; i += 3)
      xyz.set(placed(before, [moving[i] ?? 0, moving[i + 1] ?? 0, moving[i + 2] ?? 0]), i);
    const source = await sessionOf(client, folder, xyz);
    const began = performance.now();
    const answer = await client.cloudRegister({
      target_source: { session_id: target },
      source_source: { session_id: source },
    });
    row.seconds += (performance.now() - began) / 1000 / (2 * STARTS);
    await client.closeSession(source);
    const { degrees, length } = errorsOf(composed(answer.transformation_matrix, before), NOTHING, middle);
    row.checked += answer.pose_check ? 1 : 0;
    row.anew += answer.start === "global" ? 1 : 0;
    const told = answer.quality_warning !== null || (answer.warnings ?? []).some((text) => DOUBTS.test(text));
    if (degrees < 1 && length < RIGHT_M) {
      row[is_near ? "near" : "far"] += 1;
      row.degrees = Math.max(row.degrees, degrees);
      row.length_m = Math.max(row.length_m, length);
      if (answer.quality_warning !== null) row.alarms += 1;
    } else if (!told) row.untold += 1;
  }
  await client.closeSession(target);
  return { stand, pair, ...row };
}
const DOUBTS = /Nothing tells|no pose that|same one, fewer|fits worse than the start/;

export const campaignsPart: Part<CampaignRow> = {
  methods: Object.keys(PAIRS),
  groups: STANDS,
  measure: (methods, groups) =>
    withService("campaigns", async (client, folder) => {
      const rows: CampaignRow[] = [];
      for (const group of groups) {
        const stand = group as StandKind;
        const forest = new Forest(stand);
        for (const pair of methods) {
          rows.push(await rowOf(client, folder, forest, stand, pair as PairName));
          if (process.env.VERBOSE) console.error(JSON.stringify(rows.at(-1)));
        }
        await forest.release();
      }
      return rows;
    }),
  tables: (rows) =>
    [
      "| pair | stand | right, near | right, far | largest error: degrees, m | right called wrong | wrong untold | checked | begun anew | s |",
      "|---|---|---|---|---|---|---|---|---|---|",
      ...rows.map(
        (row) =>
          `| ${row.pair} | ${row.stand} | ${row.near}/${STARTS} | ${row.far}/${STARTS} | ${row.degrees.toFixed(3)}, ${row.length_m.toFixed(4)} | ${row.alarms} | ${row.untold} | ${row.checked} | ${row.anew} | ${row.seconds.toFixed(1)} |`,
      ),
    ].join("\n"),
  targets(rows) {
    const told = (name: string, missed: readonly CampaignRow[]) =>
      `${name}: ${missed.length === 0 ? "reached" : `missed on ${missed.map(({ stand, pair }) => `${pair} (${stand})`).join(", ")}`}`;
    return [
      told(
        "every near start ends right",
        rows.filter(({ near }) => near < STARTS),
      ),
      told(
        "no right pose is called wrong",
        rows.filter(({ alarms }) => alarms > 0),
      ),
      told(
        "every wrong pose is told",
        rows.filter(({ untold }) => untold > 0),
      ),
    ].join("\n");
  },
};
