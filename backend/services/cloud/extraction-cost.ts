import type { ExtractByColumnRequest } from "../../../shared/contract/cloud-session/extract-by-column.ts";
import { MAX_UNASKED_CHILDREN } from "../../../shared/limits.ts";
import type { Deps } from "../../deps.ts";
import type { Job } from "../../jobs/job.ts";
import { classCounts } from "../../native/cloud/edit.ts";
import type { CloudSession } from "../../sessions/cloud-session.ts";
import { extraColumn } from "../octree/columns.ts";
import { surviving } from "../octree/misses.ts";
import { octreeCost } from "../octree/publish.ts";
import { costRefusal } from "../run/cost-warning.ts";
import { stateBytes } from "./child.ts";

/** For a small child: two folders, a journal and an octree. 1001 children of two points took 7.8 s on two cores. */
const CHILD_SECONDS = 0.008;

/**
 * Errors: conflict with a cost warning if the request would create very many sessions and does not acknowledge it;
 * invalid_argument for an unknown column.
 */
export async function askAboutExtraction(
  session: CloudSession,
  {
    slug,
    exclude_values,
    acknowledge_cost,
  }: Pick<ExtractByColumnRequest, "slug" | "exclude_values" | "acknowledge_cost">,
  deps: Deps,
  job: Job,
): Promise<void> {
  const column = extraColumn(session.state, slug);
  if (acknowledge_cost || column.length <= MAX_UNASKED_CHILDREN) return;
  await session.read(job, async (base) => {
    const mask = await surviving(base, job);
    const { values } = await job.track(() => classCounts(extraColumn(base, slug), mask.skip));
    const excluded = new Set(exclude_values);
    const count = values.filter((value) => !excluded.has(value)).length;
    if (count <= MAX_UNASKED_CHILDREN) return;
    const bytes = octreeCost(base, mask) + 1.5 * stateBytes(base);
    throw costRefusal(
      { seconds: count * CHILD_SECONDS, bytes },
      `Extraction by ${slug} creates ${count} clouds, one per value`,
      { session_count: count },
      deps,
    );
  });
}
