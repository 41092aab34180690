import { phyllotaxis } from "../../backend/native/leaves.ts";
import { qsmTables, releaseQsm } from "../../backend/native/qsm.ts";
import type { ShootModel } from "../support/qsm/shoots.ts";
import { branchedShoots } from "../support/qsm/shoots.ts";
import type { LeafRow } from "./leaves.ts";
import { uniform } from "./random.ts";

const ANGLES = [137.5, 144, 150, 180, 90] as const;
const PATTERNS = [
  { angle_deg: 137.5, per_node: 1 },
  { angle_deg: 144, per_node: 1 },
  { angle_deg: 150, per_node: 1 },
  { angle_deg: 180, per_node: 2 },
  { angle_deg: 90, per_node: 2 },
] as const;
const MODELS = 100;

/** Each condition, and the least share of models whose pattern has to be found. */
const CONDITIONS = [
  { shoots: 1, nodes: 10, scatter_deg: 0, broken: 1, least: 1 },
  { shoots: 1, nodes: 10, scatter_deg: 5, broken: 1, least: 0.95 },
  { shoots: 1, nodes: 20, scatter_deg: 5, broken: 0.7, least: 0.95 },
  { shoots: 8, nodes: 10, scatter_deg: 5, broken: 0.7, least: 0.95 },
  { shoots: 8, nodes: 10, scatter_deg: 10, broken: 0.7, least: 0.9 },
] as const;

/** The rule of the contract: the angle modulo which the azimuths have the longest resultant; 137.5 within 0.1. */
function moduloRule({ cylinders, shoots }: ShootModel): number {
  const scores = ANGLES.map((angle) => {
    let [sum, count] = [0, 0];
    for (const shoot of shoots) {
      if (shoot.child_shoot_ids.length < 2) continue;
      let [x, y] = [0, 0];
      for (const id of shoot.child_shoot_ids) {
        const first = cylinders[shoots[id]?.cylinder_ids[0] ?? -1];
        if (!first) continue;
        const azimuth = (Math.atan2(first.end[1] - first.start[1], first.end[0] - first.start[0]) * 180) / Math.PI;
        const phase = (2 * Math.PI * ((azimuth + 360) % angle)) / angle;
        x += Math.cos(phase);
        y += Math.sin(phase);
      }
      sum += Math.hypot(x, y);
      count += shoot.child_shoot_ids.length;
    }
    return sum / Math.max(1, count);
  });
  const best = ANGLES[scores.indexOf(Math.max(...scores))] ?? 137.5;
  const spiral = best === 144 || best === 150;
  return spiral && (scores[0] ?? 0) > Math.max(...scores) - 0.1 ? 137.5 : best;
}

async function found(model: ShootModel): Promise<number> {
  const tables = await qsmTables(model.cylinders, model.shoots);
  try {
    return (await phyllotaxis(tables).promise).angle_deg;
  } finally {
    releaseQsm(tables);
  }
}

/** Share of models whose planted pattern is found; after it, that of the contract's rule. */
export async function phyllotaxisRows(): Promise<readonly LeafRow[]> {
  const rows: LeafRow[] = [];
  for (const { least, ...condition } of CONDITIONS)
    for (const { angle_deg, per_node } of PATTERNS) {
      const random = uniform(Math.round(angle_deg * 10));
      let [own, modulo] = [0, 0];
      for (let i = 0; i < MODELS; i += 1) {
        const model = branchedShoots(angle_deg, { ...condition, per_node, random });
        if ((await found(model)) === angle_deg) own += 1 / MODELS;
        if (moduloRule(model) === angle_deg) modulo += 1 / MODELS;
      }
      const { shoots, nodes, scatter_deg, broken } = condition;
      rows.push({
        group: "phyllotaxis",
        what: `${angle_deg} degrees, ${shoots} shoots of ${nodes} nodes, scatter ${scatter_deg} degrees, ${100 * broken} % of buds broken`,
        figure: `found ${(100 * own).toFixed(0)} % (azimuths modulo the angle: ${(100 * modulo).toFixed(0)} %)`,
        target: `${100 * least} %`,
        reached: own >= least - 1e-9,
      });
    }
  return rows;
}
