import type { QsmCylinder, QsmShoot } from "../../../shared/contract/qsm-records.ts";
import type { Job } from "../../jobs/job.ts";
import { type QsmTables, qsmTables, releaseQsm } from "../../native/qsm.ts";

/** The model of a request as native tables, which the run owns. */
export async function heldModel(
  { cylinders, shoots }: { readonly cylinders: readonly QsmCylinder[]; readonly shoots: readonly QsmShoot[] },
  job: Job,
): Promise<QsmTables> {
  const tables = await qsmTables(cylinders, shoots);
  job.adopt({ release: () => releaseQsm(tables) });
  return tables;
}
