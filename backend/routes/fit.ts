import { FitFields, FitForm, FitResponse } from "../../shared/contract/fit.ts";
import { CROWN_SHAPES, CrownRequest, CrownTail } from "../../shared/contract/fit-crown.ts";
import { CustomFitRequest, CustomFitResponse } from "../../shared/contract/fit-custom.ts";
import { ProspectRequest, ProspectResponse } from "../../shared/contract/fit-prospect.ts";
import { AppError } from "../../shared/errors.ts";
import { MAX_FIT_TABLE_BYTES } from "../../shared/limits.ts";
import type { Deps } from "../deps.ts";
import { receiveSmallForm } from "../http/form.ts";
import { NO_SESSION, type ProblemExample } from "../http/problems.ts";
import { runJson } from "../http/run-json.ts";
import { streamJob } from "../http/stream.ts";
import type { App } from "../http/types.ts";
import { checkCrownRequest, fitCrowns } from "../services/fit/crown.ts";
import { fitCustom } from "../services/fit/curves/custom.ts";
import { fitTable } from "../services/fit/models/table-fit.ts";
import { fitProspect, leafInversionParams } from "../services/fit/prospect.ts";
import { TABLE_EXTENSIONS } from "../services/fit/table/table.ts";
import { withUnknownKeys } from "../services/run/unknown-keys.ts";

const UNKNOWN_SHAPE: ProblemExample = {
  code: "invalid_argument",
  detail: `shape "sphere" is none of ${CROWN_SHAPES.join(", ")}`,
};
const UNKNOWN_NAME: ProblemExample = {
  code: "invalid_argument",
  detail: 'Equation, column 3: "q" is no input, parameter or constant; these are k, x',
};

const PERCENT: ProblemExample = {
  code: "invalid_argument",
  detail: "reflectance[0] is 45, outside -0.1..1.2; reflectance is a share, 0..1: divide percents by 100",
};
const NO_TABLE: ProblemExample = { code: "invalid_argument", detail: 'the form needs a part named "file"' };

/** The text fields of the form. Errors: invalid_argument for one that lacks or is wrong. */
function fitFields(fields: Readonly<Record<string, string>>): FitFields {
  const parsed = FitFields.safeParse(fields);
  if (parsed.success) return parsed.data;
  const { path, message } = parsed.error.issues[0] ?? { path: [], message: "is wrong" };
  throw new AppError("invalid_argument", `form field "${path.join(".")}": ${message}`);
}

export function fitRoutes(app: App, deps: Deps): void {
  app.post(
    "/api/fit/crown",
    {
      schema: {
        operationId: "fitCrown",
        summary: "Fit a solid to the crown of each tree",
        tags: ["fit"],
        body: CrownRequest,
      },
      config: { tail: CrownTail, problems: [NO_SESSION, UNKNOWN_SHAPE] },
    },
    async ({ body, unknownKeys }, reply) => {
      const checked = await checkCrownRequest(body, unknownKeys, deps); // 400 and 404 here, before the stream opens
      return streamJob(reply, deps.jobs, (job) => fitCrowns(checked, deps, job), { failedTail: { crowns: [] } });
    },
  );
  app.post(
    "/api/fit/prospect",
    {
      schema: {
        operationId: "fitProspect",
        summary: "Estimate leaf traits from a reflectance spectrum (PROSPECT-D, PROSPECT-PRO)",
        tags: ["fit"],
        body: ProspectRequest,
        response: { 200: ProspectResponse },
      },
      config: { problems: [PERCENT] },
    },
    async ({ body, unknownKeys }, reply) => {
      const params = leafInversionParams(body); // 400 here
      return withUnknownKeys(await runJson(reply, deps.jobs, (job) => fitProspect(body, params, job)), unknownKeys);
    },
  );
  app.post(
    "/api/fit",
    {
      schema: {
        operationId: "fitTable",
        summary: "Fit a built-in model to the curves of a table",
        tags: ["fit"],
        consumes: ["multipart/form-data"],
        response: { 200: FitResponse },
      },
      config: { upload: FitForm, problems: [NO_TABLE] },
    },
    async (request, reply) => {
      const { file, fields } = await receiveSmallForm(request, {
        extensions: TABLE_EXTENSIONS,
        most_bytes: MAX_FIT_TABLE_BYTES,
        stall_s: deps.config.bodyStallS,
      });
      const wanted = fitFields(fields);
      const unknown = Object.keys(fields).filter((name) => !Object.hasOwn(FitFields.shape, name));
      const run = runJson(reply, deps.jobs, async (job) => fitTable(file, wanted, job));
      return withUnknownKeys(await run, unknown);
    },
  );
  app.post(
    "/api/fit/custom",
    {
      schema: {
        operationId: "fitCustom",
        summary: "Fit an equation, or a built-in model, to columns of numbers",
        tags: ["fit"],
        body: CustomFitRequest,
        response: { 200: CustomFitResponse },
      },
      config: { problems: [UNKNOWN_NAME] },
    },
    async ({ body, unknownKeys }, reply) =>
      withUnknownKeys(await runJson(reply, deps.jobs, (job) => fitCustom(body, job)), unknownKeys),
  );
}
