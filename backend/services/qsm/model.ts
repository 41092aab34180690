import type { QsmBuildTail } from "../../../shared/contract/qsm.ts";
import type { QsmMetrics } from "../../../shared/contract/qsm-records.ts";
import { LazyList } from "../../../shared/wire/json-values.ts";
import { QsmRecords, type QsmTables, releaseQsm } from "../../native/qsm.ts";
import { type Runs, runsOf } from "./lying-wood.ts";

/** A model on its way to the client: its records are made while they are written. */
export interface QsmModel {
  readonly cylinders: LazyList;
  readonly shoots: LazyList;
  readonly n_cylinders: number;
  readonly n_shoots: number;
}

/** A model, and where its wood runs. */
export interface BuiltModel {
  readonly model: QsmModel;
  readonly runs: Runs;
}

/** Copies the tables of a model and releases them. */
async function recordsOf(tables: QsmTables): Promise<QsmRecords> {
  try {
    return await QsmRecords.read(tables);
  } finally {
    releaseQsm(tables);
  }
}

const listed = (records: QsmRecords): QsmModel => ({
  cylinders: new LazyList(records.cylinderCount, (i) => records.cylinder(i)),
  shoots: new LazyList(records.shootCount, (i) => records.shoot(i)),
  n_cylinders: records.cylinderCount,
  n_shoots: records.shootCount,
});

/** The model of tables, which are released. */
export const modelOf = async (tables: QsmTables): Promise<QsmModel> => listed(await recordsOf(tables));

/** The same, with where its wood runs. */
export async function builtModel(tables: QsmTables): Promise<BuiltModel> {
  const records = await recordsOf(tables);
  return { model: listed(records), runs: runsOf(records.cylinderCount, (i) => records.cylinder(i)) };
}

/** The answer of a build or an import as services return it. */
export type QsmAnswer = Omit<QsmBuildTail, "cylinders" | "shoots"> & {
  readonly cylinders: LazyList | [];
  readonly shoots: LazyList | [];
};

export const NO_MODEL = {
  success: false,
  cylinders: [],
  shoots: [],
  metrics: null,
  view_fit: null,
  enlarged_by: 1,
  n_cylinders: 0,
  n_shoots: 0,
} as const;

/** Metrics of a model, without intervals if `warnings` say that it is no tree's. */
export const plausible = (metrics: QsmMetrics, warnings: readonly string[]): QsmMetrics =>
  warnings.length > 0 ? withoutIntervals(metrics) : metrics;

/** Metrics of a model without intervals. */
export const withoutIntervals = (
  metrics: Omit<QsmMetrics, "total_woody_volume_ci95_m3" | "stem_volume_ci95_m3" | "branch_volume_ci95_m3">,
): QsmMetrics => ({
  ...metrics,
  total_woody_volume_ci95_m3: null,
  stem_volume_ci95_m3: null,
  branch_volume_ci95_m3: null,
});
