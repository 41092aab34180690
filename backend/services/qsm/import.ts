import { stat } from "node:fs/promises";
import { basename } from "node:path";
import type { QsmImportRequest } from "../../../shared/contract/qsm.ts";
import { AppError } from "../../../shared/errors.ts";
import type { Deps } from "../../deps.ts";
import type { Job } from "../../jobs/job.ts";
import { importQsm, importQsmBytes } from "../../native/qsm.ts";
import { extensionOf, sourceFile } from "../files/source.ts";
import { importedDoubts } from "./implausible.ts";
import { modelOf, type QsmAnswer, withoutIntervals } from "./model.ts";

/** The table that a request names. Errors: not_found; invalid_argument for another extension. */
export async function checkQsmImport({ path: written }: QsmImportRequest): Promise<string> {
  const path = await sourceFile(written);
  const extension = extensionOf(path);
  if (extension === ".csv") return path;
  throw new AppError(
    "invalid_argument",
    `${basename(path)}: the extension "${extension}" is no table of cylinders; use .csv`,
  );
}

/** The model of a table of cylinders. Errors: invalid_file, invalid_argument for a table that is no model. */
export async function importModel(path: string, deps: Deps, job: Job): Promise<QsmAnswer> {
  const { size } = await stat(path);
  return deps.admission.run(job, "QSM import", importQsmBytes(size), async () => {
    const { qsm, metrics } = await job.track(() => importQsm(path));
    const model = await modelOf(qsm);
    const known = { metrics: withoutIntervals(metrics), view_fit: null, enlarged_by: 1, points_used: 0 };
    return { success: true, ...model, ...known, warnings: importedDoubts(metrics), error: null };
  });
}
