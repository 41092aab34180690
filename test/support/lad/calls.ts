import { LadFailure, LadSuccess } from "../../../shared/contract/lad-compute.ts";
import type { TestApp } from "../app/app.ts";
import { checked, failed, refusal, streamed } from "../session/session-edits.ts";
import { halfIntercepted, UNIT_GRID } from "./beams.ts";

export const LAD_URL = "/api/lad/compute";

/** Half intercepted on chords of 1 m with G = 0.5. */
export const HALF = Math.log(2) / 0.5;

/** A request for one voxel, half intercepted, with G = 0.5; `more` replaces fields. */
export const ladRequest = (more: object = {}) => ({
  scans: [halfIntercepted()],
  grid: UNIT_GRID,
  gtheta_override: true,
  gtheta: 0.5,
  min_voxel_hits: 5,
  occlusion_threshold_m: 1,
  ...more,
});

/** What every answer without wood_split tells. */
export const PLANT_AREA = /^Wood that the beams met counts as leaves, .* is plant area/;

/** Calls of the endpoint, checked against the contract. `compute` leaves PLANT_AREA out of the warnings. */
export const ladCalls = (made: TestApp) => ({
  run: (more: object = {}) => streamed(made, LadSuccess, LAD_URL, ladRequest(more)),
  compute: async (more: object = {}) => {
    const { tail } = await streamed(made, LadSuccess, LAD_URL, ladRequest(more));
    return { ...tail, warnings: tail.warnings.filter((warning) => !PLANT_AREA.test(warning)) };
  },
  failure: async (more: object) => checked(LadFailure, (await failed(made, LAD_URL, ladRequest(more))).tail),
  refusedWith: (more: object) => refusal(made, LAD_URL, ladRequest(more)),
});
