import { type CrownRequest, CrownSuccess } from "../contract/fit-crown.ts";
import { CLIENT_TIMEOUT_MS } from "../limits.ts";
import type { Calls, Input } from "./calls.ts";
import type { RunOptions } from "./transport.ts";

/** Shapes fitted to trees. */
export const fitClient = (calls: Calls) => ({
  /** Fits a solid to the crown of each tree of a session. */
  fitCrown: (request: Input<typeof CrownRequest>, run?: RunOptions) =>
    calls.runJson(CrownSuccess, "/api/fit/crown", request, CLIENT_TIMEOUT_MS.heavy, run),
});
