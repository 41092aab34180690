import { ModelsResponse } from "../../shared/contract/models.ts";
import type { App } from "../http/types.ts";
import { modelList } from "../services/fit/models/catalogue.ts";

export function modelsRoutes(app: App): void {
  app.get(
    "/api/models",
    {
      schema: {
        operationId: "listModels",
        summary: "List the built-in models of curves",
        tags: ["fit"],
        response: { 200: ModelsResponse },
      },
    },
    () => modelList(),
  );
}
