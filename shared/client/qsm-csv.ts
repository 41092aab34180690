import type { QsmCylinder, QsmShoot } from "../contract/qsm-records.ts";

/** A model as build, import and tree_qsm return it. */
export interface QsmModelRecords {
  readonly cylinders: readonly QsmCylinder[];
  readonly shoots: readonly QsmShoot[];
}

type Cell = number | null;
interface Row {
  readonly cylinder: QsmCylinder;
  readonly parent_shoot: number | null;
  readonly axis: readonly [number, number, number];
  readonly length: number;
}

/** Columns of the table of cylinders; the order is a contract: new columns are appended. */
const COLUMNS: readonly (readonly [name: string, value: (row: Row) => Cell])[] = [
  ["ID", ({ cylinder }) => cylinder.cyl_id],
  ["parentID", ({ cylinder }) => cylinder.parent_id],
  ["branchID", ({ cylinder }) => cylinder.shoot_id],
  ["branchOrder", ({ cylinder }) => cylinder.rank],
  ["segmentID", ({ cylinder }) => cylinder.shoot_id],
  ["parentSegmentID", ({ parent_shoot }) => parent_shoot],
  ["startX", ({ cylinder }) => cylinder.start[0]],
  ["startY", ({ cylinder }) => cylinder.start[1]],
  ["startZ", ({ cylinder }) => cylinder.start[2]],
  ["endX", ({ cylinder }) => cylinder.end[0]],
  ["endY", ({ cylinder }) => cylinder.end[1]],
  ["endZ", ({ cylinder }) => cylinder.end[2]],
  ["axisX", ({ axis }) => axis[0]],
  ["axisY", ({ axis }) => axis[1]],
  ["axisZ", ({ axis }) => axis[2]],
  ["radius", ({ cylinder }) => cylinder.radius],
  ["length", ({ length }) => length],
  ["surfaceCoverage", ({ cylinder }) => cylinder.surf_cov],
  ["meanAbsDeviation", ({ cylinder }) => cylinder.mad],
];
const ROWS_PER_PIECE = 2_048;

/** From base to tip, and its length in metres. */
export function axisOf({ start, end }: Pick<QsmCylinder, "start" | "end">) {
  const [x, y, z] = [end[0] - start[0], end[1] - start[1], end[2] - start[2]];
  return { along: [x, y, z] as const, length: Math.hypot(x, y, z) };
}

/**
 * The table of cylinders that /api/qsm/import reads, in pieces of text: a row per cylinder, in the order of the model.
 * Numbers keep all digits, so that a model survives the way out and back. Every cell is a number or empty: nothing in it
 * is a formula to a spreadsheet.
 */
export function* qsmCsv({ cylinders, shoots }: QsmModelRecords): Generator<string> {
  const parents = new Map(shoots.map(({ shoot_id, parent_shoot_id }) => [shoot_id, parent_shoot_id]));
  yield `${COLUMNS.map(([name]) => name).join(",")}\n`;
  for (let at = 0; at < cylinders.length; at += ROWS_PER_PIECE) {
    const lines = cylinders.slice(at, at + ROWS_PER_PIECE).map((cylinder) => {
      const { along, length } = axisOf(cylinder);
      const scale = length > 0 ? 1 / length : 0;
      const axis = [along[0] * scale, along[1] * scale, along[2] * scale] as const;
      const row = { cylinder, parent_shoot: parents.get(cylinder.shoot_id) ?? null, axis, length };
      return COLUMNS.map(([, value]) => value(row) ?? "").join(",");
    });
    yield `${lines.join("\n")}\n`;
  }
}
