import type { z } from "zod";
import { treeQsmCsv, treeQsmWarnings } from "../../../shared/client/index.ts";
import { TreeQsmRequest, type TreeQsmResult } from "../../../shared/contract/cloud-session/tree-qsm.ts";
import type { OctreeBlock } from "../../../shared/contract/octree.ts";
import { AppError } from "../../../shared/errors.ts";
import { strings } from "../strings.ts";
import { count, fileStem, measure } from "../workflow/format.ts";
import { type CloudContext, cloudOperation, type Outcome } from "./operation.ts";

const words = strings.workflow.operations.qsm;
type Request = Pick<z.input<typeof TreeQsmRequest>, keyof typeof words.fields>;

/** Models trees as cylinders: every tree of the cloud, or the whole cloud where it has no column of trees. */
export const qsm = cloudOperation({
  id: "qsm",
  schema: TreeQsmRequest.extend({ radius_model: TreeQsmRequest.shape.radius_model.removeDefault().default("tapered") }),
  words,
  run: (request, context) =>
    context.cloud.octree?.attributes.some(({ name }) => name === "tree_instance")
      ? ofTrees(request, context)
      : ofCloud(request, context),
});

async function ofTrees(request: Request, { client, cloud, run, view, scene }: CloudContext): Promise<Outcome> {
  const answer = await client.treeQsm(cloud.session_id, request, run);
  if (!answer.success) throw new AppError(answer.code ?? "internal", answer.error ?? words.none);
  const made = answer.results.filter(({ success }) => success);
  const cylinders = made.flatMap((result) => result.cylinders ?? []);
  if (cylinders.length > 0) {
    const name = words.name(cloud.name, made.length);
    scene.add({ kind: "qsm", name, cylinders }, view.addQsm({ name, cylinders }));
  }
  const failed = answer.results.filter(({ success }) => !success);
  return {
    facts: [
      [words.facts.trees, count(made.length)],
      [words.facts.failed, count(failed.length)],
      [words.facts.cylinders, count(cylinders.length)],
      [words.facts.volume, measure(sumOf(made, "total_woody_volume_m3"), "m³", 3)],
      [words.facts.stem, measure(sumOf(made, "stem_volume_m3"), "m³", 3)],
    ],
    warnings: [
      ...answer.warnings,
      ...treeQsmWarnings(answer.results),
      ...failed.map(({ tree_id, error }) => words.failedTree(tree_id, error ?? "")),
    ],
    file: {
      name: `${fileStem(cloud.name)}-qsm.csv`,
      content: [...treeQsmCsv(cloud.name, answer.results)].join(""),
      type: "text/csv",
    },
  };
}

/**
 * The whole cloud as one tree. A copy of it is labelled, because only models of labelled trees know wood, and the cloud
 * itself shall get no column that nobody asked for.
 */
async function ofCloud({ tree_ids, ...request }: Request, context: CloudContext): Promise<Outcome> {
  const { client, cloud, run, view, scene } = context;
  const { duplicate: copy } = await client.duplicate(cloud.session_id, { signal: run.signal });
  try {
    const painted = await client.labelRegion(copy.session_id, oneTree(copy), { signal: run.signal });
    const answer = await client.treeQsm(copy.session_id, request, run);
    const [made] = answer.results;
    if (!answer.success || !made?.success)
      throw new AppError(answer.code ?? made?.code ?? "internal", answer.error ?? made?.error ?? words.none);
    const name = words.name(cloud.name, 1);
    const { cylinders = [], metrics } = made;
    scene.add({ kind: "qsm", name, cylinders }, view.addQsm({ name, cylinders }));
    return {
      facts: [
        [words.facts.cylinders, count(cylinders.length)],
        [words.facts.height, measure(metrics?.tree_height_m, "m")],
        [words.facts.diameter, measure(metrics && metrics.trunk_diameter_mm / 10, "cm", 1)],
        [words.facts.volume, measure(metrics?.total_woody_volume_m3, "m³", 3)],
        [words.facts.stem, measure(metrics?.stem_volume_m3, "m³", 3)],
      ],
      warnings: [
        words.wholeCloud,
        ...(tree_ids && tree_ids.length > 0 ? [words.noTreeIds(tree_ids.join(", "))] : []),
        ...(painted.warnings ?? []),
        ...answer.warnings,
        ...(made.warnings ?? []),
      ],
    };
  } finally {
    await client.closeSession(copy.session_id);
  }
}

/** A stroke that makes every point but noise tree 1. */
function oneTree({ tight_bounds, bounds }: Pick<OctreeBlock, "tight_bounds" | "bounds">) {
  const region = { kind: "box" as const, ...(tight_bounds ?? bounds) };
  return { slug: "tree_instance", strokes: [{ stroke_id: "tree", region, to_class: 1 }], skip_noise: true };
}

const sumOf = (results: readonly TreeQsmResult[], metric: "total_woody_volume_m3" | "stem_volume_m3"): number =>
  results.reduce((sum, { metrics }) => sum + (metrics?.[metric] ?? 0), 0);
