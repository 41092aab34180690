// Selections and edits of 50M points.
import { FIFTY_MILLION, plotFiles } from "../inputs.ts";
import { nativeJob, THREADS } from "../native.ts";
import { OPERATION, operationJob } from "./operation.ts";

const fiftyMillion = async () => (await plotFiles(FIFTY_MILLION)).las;
const select = (title: string, limit: number, shape: string) =>
  operationJob(title, FIFTY_MILLION, limit, async () =>
    nativeJob(OPERATION, "select", await fiftyMillion(), shape, THREADS),
  );

export const editJobs = {
  "select-box": select("select 50M by a box", 0.3, "box"),
  "select-lasso": select("select 50M by a lasso of 500 points", 0.6, "polygon"),
  "select-brush": select("select 50M by 4000 squares", 0.6, "squares"),
  compact: operationJob("drop half of 50M, 55 bytes a row", FIFTY_MILLION, 0.6, async () =>
    nativeJob(OPERATION, "compact", await fiftyMillion(), THREADS),
  ),
  paint: operationJob("paint 1M of 50M labels", FIFTY_MILLION, 0.3, () =>
    nativeJob(OPERATION, "paint", String(FIFTY_MILLION), THREADS),
  ),
};
