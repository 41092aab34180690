// What 0.8 and 1.25 times each constant of the ground filter `auto` change.
import { groundAuto, groundConstants } from "../../backend/native/classify/ground.ts";
import { clouds, type GroundCloud, groups } from "./ground-data.ts";
import { labelsOf, positions } from "./native.ts";
import type { Part } from "./part.ts";
import { confusion, scores } from "./scores.ts";
import { dtmErrors } from "./terrain-error.ts";

const FACTORS = [0.8, 1.25] as const;
/** Numbers of things. */
const WHOLE: readonly string[] = ["low_support", "plane_neighbors", "side_fewest"];
type Constants = Readonly<Record<string, number>>;

export interface SensitivityRow {
  readonly group: string;
  readonly cloud: string;
  /** Null: as set. */
  readonly constant: string | null;
  readonly factor: number;
  readonly value: number | null;
  readonly kappa: number;
  /** Metres; null where the terrain is not known. */
  readonly dtm: number | null;
}

async function measured(cloud: GroundCloud, constants: Constants): Promise<Pick<SensitivityRow, "kappa" | "dtm">> {
  const xyz = positions(cloud.xyz);
  const { ground_class } = await groundAuto(xyz, null, undefined, constants).promise;
  const labels = labelsOf(ground_class);
  for (const column of [xyz, ground_class]) column.release();
  const { kappa } = scores(confusion(cloud.truth, labels));
  return { kappa, dtm: cloud.terrain ? (await dtmErrors(cloud.terrain, labels)).rmse : null };
}

async function rowsOf(cloud: GroundCloud, names: readonly string[]): Promise<SensitivityRow[]> {
  const { group, name } = cloud;
  const set = groundConstants();
  const rows: SensitivityRow[] = [
    { group, cloud: name, constant: null, factor: 1, value: null, ...(await measured(cloud, {})) },
  ];
  for (const constant of names)
    for (const factor of FACTORS) {
      const scaled = (set[constant] ?? Number.NaN) * factor;
      const value = WHOLE.includes(constant) ? Math.round(scaled) : scaled;
      rows.push({ group, cloud: name, constant, factor, value, ...(await measured(cloud, { [constant]: value })) });
    }
  return rows;
}

const three = (value: number | null) => (value === null || !Number.isFinite(value) ? "" : value.toFixed(3));
const most = (values: readonly (number | null)[]) => Math.max(...values.filter((value) => value !== null));

/** Mean and worst kappa of the ISPRS samples, and the largest error of the terrain in each other group. */
function figures(rows: readonly SensitivityRow[], known: readonly string[]): string {
  const isprs = rows.filter((row) => row.group === "isprs").map((row) => row.kappa);
  const mean = isprs.length > 0 ? isprs.reduce((a, b) => a + b) / isprs.length : null;
  const worst = isprs.length > 0 ? Math.min(...isprs) : null;
  const errors = known.map((group) => three(most(rows.filter((row) => row.group === group).map((row) => row.dtm))));
  return [three(mean), three(worst), ...errors].join(" | ");
}

function tables(rows: readonly SensitivityRow[]): string {
  const known = [...new Set(rows.filter((row) => row.dtm !== null).map((row) => row.group))];
  const titles = ["mean kappa", "worst kappa", ...known.map((group) => `${group}: DTM RMSE m`)];
  const wide = FACTORS.map((factor) => titles.map((title) => `x ${factor}: ${title}`).join(" | ")).join(" | ");
  const out = [`| constant | ${wide} |`, `|${"---|".repeat(1 + FACTORS.length * titles.length)}`];
  const asSet = figures(
    rows.filter((row) => row.constant === null),
    known,
  );
  out.push(`| as set | ${FACTORS.map(() => asSet).join(" | ")} |`);
  const set = groundConstants();
  for (const constant of new Set(rows.map((row) => row.constant))) {
    if (constant === null) continue;
    const at = (factor: number) => rows.filter((row) => row.constant === constant && row.factor === factor);
    out.push(`| ${constant} ${set[constant]} | ${FACTORS.map((factor) => figures(at(factor), known)).join(" | ")} |`);
  }
  return out.join("\n");
}

export const groundSensitivityPart: Part<SensitivityRow> = {
  methods: Object.keys(groundConstants()),
  groups,
  async measure(names, wanted) {
    const rows: SensitivityRow[] = [];
    for (const cloud of await clouds(wanted)) rows.push(...(await rowsOf(cloud, names)));
    return rows;
  },
  tables,
  targets: () => "",
};
