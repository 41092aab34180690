import { LatexQuery, LatexRequest, LatexResponse } from "../../shared/contract/latex.ts";
import type { ProblemExample } from "../http/problems.ts";
import type { App } from "../http/types.ts";
import { LatexRenderer } from "../services/fit/latex.ts";
import { withUnknownKeys } from "../services/run/unknown-keys.ts";

const NOTHING_RENDERED: ProblemExample = {
  code: "not_found",
  detail: "No equation was rendered yet; send `equation`, or POST one first.",
};

export function latexRoutes(app: App): void {
  const renderer = new LatexRenderer();
  app.post(
    "/api/latex",
    {
      schema: {
        operationId: "renderLatex",
        summary: "Render an equation as LaTeX",
        tags: ["fit"],
        body: LatexRequest,
        response: { 200: LatexResponse },
      },
    },
    ({ body, unknownKeys }) => withUnknownKeys(renderer.render(body), unknownKeys),
  );
  app.get(
    "/api/latex",
    {
      schema: {
        operationId: "latestLatex",
        summary: "Render an equation as LaTeX, or repeat the most recent one",
        tags: ["fit"],
        querystring: LatexQuery,
        response: { 200: LatexResponse },
      },
      config: { problems: [NOTHING_RENDERED] },
    },
    ({ query: { equation, ...rest } }) =>
      equation === undefined ? renderer.latest() : renderer.render({ equation, ...rest }),
  );
}
