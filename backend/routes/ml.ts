import { z } from "zod";
import {
  DeleteModelResponse,
  ImportModelRequest,
  MlDevice,
  MlModel,
  MlModelsQuery,
  MlModelsResponse,
} from "../../shared/contract/ml.ts";
import type { Deps } from "../deps.ts";
import { BUNDLED_MODEL, NO_MODEL, NO_PACKAGE } from "../http/problems.ts";
import { runJson } from "../http/run-json.ts";
import type { App } from "../http/types.ts";
import { mlDevice } from "../services/ml/device.ts";
import { deleteModel, importModel } from "../services/ml/install.ts";
import { listMlModels } from "../services/ml/library.ts";

const TAGS = ["classify"];

export function mlRoutes(app: App, deps: Deps): void {
  app.get(
    "/api/ml/models",
    {
      schema: {
        operationId: "listMlModels",
        summary: "List the installed models of networks",
        tags: TAGS,
        querystring: MlModelsQuery,
        response: { 200: MlModelsResponse },
      },
    },
    ({ query }) => listMlModels(query.task, deps),
  );

  app.get(
    "/api/ml/device",
    {
      schema: {
        operationId: "mlDevice",
        summary: "Report where networks run, and why",
        tags: TAGS,
        response: { 200: MlDevice },
      },
    },
    () => mlDevice(deps),
  );

  app.post(
    "/api/ml/models/import",
    {
      schema: {
        operationId: "importMlModel",
        summary: "Install a model of a network from its package",
        description:
          "The package is a folder with model.json and model.onnx. It is checked against what model.json declares, and its network runs on generated points before the package is copied to the folder of the user's models. A model with the same id that was imported before is replaced.",
        tags: TAGS,
        body: ImportModelRequest,
        response: { 200: MlModel },
      },
      config: { problems: [NO_PACKAGE], tool: "Model import" },
    },
    ({ body }, reply) => runJson(reply, deps.jobs, (job) => importModel(body.path, deps, job)),
  );

  app.delete(
    "/api/ml/models/:id",
    {
      schema: {
        operationId: "deleteMlModel",
        summary: "Remove an imported model",
        tags: TAGS,
        params: z.object({ id: z.string().describe("id of the model") }),
        response: { 200: DeleteModelResponse },
      },
      config: { problems: [NO_MODEL, BUNDLED_MODEL] },
    },
    async ({ params }) => {
      await deleteModel(params.id, deps);
      return { success: true as const };
    },
  );
}
