import type { LeavesRequest } from "../../../shared/contract/qsm-leaves.ts";
import { MAX_PLANT_TRIANGLES } from "../../../shared/limits.ts";
import type { Deps } from "../../deps.ts";
import type { Job } from "../../jobs/job.ts";
import { leafMeshBytes, placeLeavesBytes } from "../../native/leaves.ts";
import { leafAnswer, leafMeshFields, placedLeaves } from "./leaf-answer.ts";
import { leafLookBytes } from "./leaf-look.ts";

/** Memory of leaves at most, bytes: a response cannot have more triangles, so no more leaves either. */
export async function leavesBytes(request: LeavesRequest): Promise<number> {
  const leaves = Math.min(request.max_leaves, MAX_PLANT_TRIANGLES);
  const triangles = request.obj_path ? MAX_PLANT_TRIANGLES : Math.min(2 * leaves, MAX_PLANT_TRIANGLES);
  return placeLeavesBytes(request.cylinders.length, leaves) + leafMeshBytes(triangles) + (await leafLookBytes(request));
}

/** Leaves on the youngest growth of a model. Failures are reported in `error`. */
export const leavesOf = (
  request: LeavesRequest,
  unknown_keys: readonly string[],
  { admission }: Pick<Deps, "admission">,
  job: Job,
): Promise<object> =>
  leafAnswer(unknown_keys, job, async () =>
    admission.run(job, "Leaves", await leavesBytes(request), async () => {
      const { placed, look, warnings } = await placedLeaves(request, job);
      const { leaf_size_m } = request;
      return { ...(await leafMeshFields(placed.leaves, placed.leaf_count, { look, leaf_size_m }, job)), warnings };
    }),
  );
