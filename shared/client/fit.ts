import type { ExportResultsRequest } from "../contract/export.ts";
import { type FitFields, FitResponse } from "../contract/fit.ts";
import { type CrownRequest, CrownSuccess } from "../contract/fit-crown.ts";
import { type CustomFitRequest, CustomFitResponse } from "../contract/fit-custom.ts";
import { type ProspectRequest, ProspectResponse } from "../contract/fit-prospect.ts";
import { type LatexRequest, LatexResponse } from "../contract/latex.ts";
import { ModelsResponse } from "../contract/models.ts";
import { CLIENT_TIMEOUT_MS } from "../limits.ts";
import { type Calls, checked, type Input } from "./calls.ts";
import type { CallOptions, RunOptions } from "./transport.ts";

/** Shapes fitted to trees, curves fitted to data, leaves fitted to spectra, and equations. */
export const fitClient = (calls: Calls) => ({
  /** Fits a solid to the crown of each tree of a session. */
  fitCrown: (request: Input<typeof CrownRequest>, run?: RunOptions) =>
    calls.runJson(CrownSuccess, "/api/fit/crown", request, CLIENT_TIMEOUT_MS.heavy, run),
  /** Estimates leaf traits from a reflectance spectrum (PROSPECT). */
  fitProspect: (request: Input<typeof ProspectRequest>, call?: CallOptions) =>
    calls.post(ProspectResponse, "/api/fit/prospect", request, CLIENT_TIMEOUT_MS.heavy, call),
  /**
   * Fits a built-in model to each curve of a table. The extension of `name` (.csv, .txt, .xlsx) determines the format. Units in
   * brackets after the name of a column, or in a row below the header, are converted to those of listModels, and told.
   */
  fitTable: async (
    file: Blob,
    name: string,
    fields: { readonly model_category: string; readonly model_type: string } & Partial<Input<typeof FitFields>>,
    call?: CallOptions,
  ) => {
    const form = new FormData();
    for (const [key, value] of Object.entries(fields)) form.append(key, String(value));
    form.append("file", file, name);
    const timeoutMs = CLIENT_TIMEOUT_MS.heavy;
    return checked(
      FitResponse,
      await calls.transport.json({ method: "POST", path: "/api/fit", form, timeoutMs }, call),
    );
  },
  /** Fits an equation, or a built-in model, to columns of numbers. */
  fitCustom: (request: Input<typeof CustomFitRequest>, call?: CallOptions) =>
    calls.post(CustomFitResponse, "/api/fit/custom", request, CLIENT_TIMEOUT_MS.heavy, call),
  /** The built-in models of curves, by category and id. */
  listModels: (call?: CallOptions) => calls.get(ModelsResponse, "/api/models", CLIENT_TIMEOUT_MS.quick, call),
  /** Renders an equation as LaTeX. */
  renderLatex: (request: Input<typeof LatexRequest>, call?: CallOptions) =>
    calls.post(LatexResponse, "/api/latex", request, CLIENT_TIMEOUT_MS.quick, call),
  /** The result of a fit as the bytes of a workbook, csv or json file. */
  exportResults: (request: Input<typeof ExportResultsRequest>, call?: CallOptions) =>
    calls.transport.bytes(
      { method: "POST", path: "/api/export", json: request, timeoutMs: CLIENT_TIMEOUT_MS.export },
      call,
    ),
  /** The most recent rendering. Errors: 404 if there is none. */
  latestLatex: (call?: CallOptions) => calls.get(LatexResponse, "/api/latex", CLIENT_TIMEOUT_MS.quick, call),
});
