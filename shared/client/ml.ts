import { DeleteModelResponse, MlDevice, MlModel, MlModelsResponse } from "../contract/ml.ts";
import { CLIENT_TIMEOUT_MS } from "../limits.ts";
import { type Calls, checked } from "./calls.ts";
import type { CallOptions } from "./transport.ts";

/** Models of networks, and where networks run. */
export const mlClient = (calls: Calls) => ({
  /** The installed models, those of one task if it is named (wood_leaf); `broken` are packages that cannot be used. */
  listMlModels: (task?: string, call?: CallOptions) => {
    const query = task === undefined ? "" : `?task=${encodeURIComponent(task)}`;
    return calls.get(MlModelsResponse, `/api/ml/models${query}`, CLIENT_TIMEOUT_MS.preview, call);
  },
  /** Where networks run, and why; the first call may take seconds. */
  mlDevice: (call?: CallOptions) => calls.get(MlDevice, "/api/ml/device", CLIENT_TIMEOUT_MS.preview, call),
  /** Installs the package in a folder, or of its model.json, and answers its model. */
  importMlModel: (path: string, call?: CallOptions) =>
    calls.post(MlModel, "/api/ml/models/import", { path }, CLIENT_TIMEOUT_MS.heavy, call),
  /** Removes an imported model. Errors: 404 if it is not installed, 409 if it is part of the product. */
  deleteMlModel: async (id: string, call?: CallOptions) => {
    const path = `/api/ml/models/${encodeURIComponent(id)}`;
    const timeoutMs = CLIENT_TIMEOUT_MS.quick;
    return checked(DeleteModelResponse, await calls.transport.json({ method: "DELETE", path, timeoutMs }, call));
  },
});
