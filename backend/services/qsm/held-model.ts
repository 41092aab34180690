import { BulkColumn } from "../../../shared/contract/bulk-list.ts";
import type { PhyllotaxisRequest } from "../../../shared/contract/qsm-phyllotaxis.ts";
import { AppError } from "../../../shared/errors.ts";
import type { Job } from "../../jobs/job.ts";
import type { NativeColumn } from "../../native/core/handles.ts";
import { cylinderTable, type QsmTables, shootTables } from "../../native/qsm.ts";
import { ListColumn } from "../../sessions/list-column.ts";

type Model = Pick<PhyllotaxisRequest, "cylinders" | "shoots">;

/**
 * The model of a request as native tables, which the run owns. Records of a large request are these tables already: the
 * contract's fields stand in the order of cpp/binding/qsm_values.h.
 */
export async function heldModel({ cylinders, shoots }: Model, job: Job): Promise<QsmTables> {
  const own = (column: NativeColumn) => job.adopt({ release: () => column.release(), column }).column;
  const stems = cylinders instanceof BulkColumn ? tablesOf(cylinders, job).table : own(await cylinderTable(cylinders));
  if (shoots instanceof BulkColumn) {
    const { table, items } = tablesOf(shoots, job);
    return { cylinders: stems, shoots: table, ids: items };
  }
  const tables = await shootTables(shoots);
  return { cylinders: stems, shoots: own(tables.shoots), ids: own(tables.ids) };
}

function tablesOf(list: BulkColumn, job: Job) {
  if (!(list instanceof ListColumn) || !list.ref || !list.items)
    throw new AppError("internal", "records without their columns");
  return { table: job.adopt(list.ref.retain()).native, items: job.adopt(list.items.retain()).native };
}
