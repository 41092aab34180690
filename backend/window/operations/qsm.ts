import type { z } from "zod";
import { treeQsmCsv, treeQsmWarnings } from "../../../shared/client/index.ts";
import { TreeQsmRequest, type TreeQsmResult } from "../../../shared/contract/cloud-session/tree-qsm.ts";
import { AppError } from "../../../shared/errors.ts";
import { strings } from "../strings.ts";
import { count, fileStem, measure } from "../workflow/format.ts";
import { type CloudContext, cloudOperation, type Outcome } from "./operation.ts";

const words = strings.workflow.operations.qsm;
type Request = Pick<z.input<typeof TreeQsmRequest>, keyof typeof words.fields>;

/** Models trees as cylinders: every tree of the cloud, or the whole cloud where it has no column of trees. */
export const qsm = cloudOperation({
  id: "qsm",
  schema: TreeQsmRequest,
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

async function ofCloud(request: Request, { client, cloud, run, view, scene }: CloudContext): Promise<Outcome> {
  const { twig_radius_mm, radius_model } = request;
  const source = { session_id: cloud.session_id, max_points: request.max_points_per_tree ?? null };
  const answer = await client.buildQsm({ source, ...defined({ twig_radius_mm, radius_model }) }, run);
  if (!answer.success) throw new AppError(answer.code ?? "internal", answer.error ?? words.none);
  const name = words.name(cloud.name, 1);
  const { cylinders, metrics } = answer;
  scene.add({ kind: "qsm", name, cylinders }, view.addQsm({ name, cylinders }));
  return {
    facts: [
      [words.facts.cylinders, count(cylinders.length)],
      [words.facts.height, measure(metrics?.tree_height_m, "m")],
      [words.facts.diameter, measure(metrics && metrics.trunk_diameter_mm / 10, "cm", 1)],
      [words.facts.volume, measure(metrics?.total_woody_volume_m3, "m³", 3)],
      [words.facts.stem, measure(metrics?.stem_volume_m3, "m³", 3)],
    ],
    warnings: [words.wholeCloud, ...answer.warnings],
  };
}

const sumOf = (results: readonly TreeQsmResult[], metric: "total_woody_volume_m3" | "stem_volume_m3"): number =>
  results.reduce((sum, { metrics }) => sum + (metrics?.[metric] ?? 0), 0);

function defined<T extends object>(value: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(value).filter(([, field]) => field !== undefined)) as {
    [K in keyof T]?: Exclude<T[K], undefined>;
  };
}
