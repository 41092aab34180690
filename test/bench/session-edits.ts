// The life of one large session: deletions, labels, bake, move, extraction.
import { DeleteRegionResponse } from "../../shared/contract/cloud-session/delete-region.ts";
import { ExtractByColumnTail } from "../../shared/contract/cloud-session/extract-by-column.ts";
import { LabelRegionResponse } from "../../shared/contract/cloud-session/label-region.ts";
import { MemoryWatch, usageOf } from "./process.ts";
import { withService } from "./service.ts";
import { type Bounds, type Called, Caller, drained, middle, opened, UNREAD } from "./session-caller.ts";
import type { Stages } from "./stage-clock.ts";

const IDENTITY = [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1];
/** A camera that looks straight down on `bounds`: one pixel is `extent / 1000` metres. Column-major. */
function topView({ min, max }: Bounds) {
  const [sx, sy] = [2 / (max[0] - min[0]), 2 / (max[1] - min[1])];
  const projection = [sx, 0, 0, 0, 0, sy, 0, 0, 0, 0, 0, 0, -1 - min[0] * sx, -1 - min[1] * sy, 0, 1];
  return { projection, view: IDENTITY, canvas: { width: 1000, height: 1000 } };
}

/** A star of `count` corners round the middle of the canvas: a lasso with as many edges. */
function lasso(count: number, radius: number) {
  return Array.from({ length: count }, (_, i) => {
    const angle = (2 * Math.PI * i) / count;
    const r = radius * (1 + 0.2 * Math.sin(17 * angle));
    return [500 + r * Math.cos(angle), 500 + r * Math.sin(angle)];
  });
}

const STEPS = [
  "delete_box",
  "delete_polygon",
  "reset_50",
  "label",
  "label_again",
  "rebuild",
  "translate",
  "bake",
] as const;
type Step = (typeof STEPS)[number];
type StepTimes = { readonly [step in Step as `${step}_s`]: number };

/** Deletions, undo, labels, a move and a bake of one session. */
export async function edits(count: number) {
  return withService(async (service) => {
    const caller = new Caller(service);
    const { url, bounds, create_s } = await opened(caller, count);
    const region = middle(bounds, 0.1);
    const polygon = { kind: "polygon", points: lasso(500, 60), ...topView(bounds) };
    const times: Record<string, number> = {};
    const stagesOf: Record<string, Stages> = {};
    const timed = async <T>(step: Step, call: () => Promise<Called<T> & { readonly stages?: Stages }>): Promise<T> => {
      await drained(service);
      const { body, s, stages } = await call();
      times[`${step}_s`] = s;
      if (stages) stagesOf[`${step}_stages`] = stages;
      return body;
    };
    const remove = (what: object) => caller.json(DeleteRegionResponse, `${url}/delete_region`, { region: what });
    const label = (strokes: readonly object[]) => caller.json(LabelRegionResponse, `${url}/label_region`, { strokes });

    const first = await timed("delete_box", () => remove(region));
    if (first.deleted_count === 0) throw new Error("the box holds no point");
    await timed("delete_polygon", () => remove(polygon));
    for (let i = 2; i < 50; i += 1) await remove(middle(bounds, 0.1 + i / 500));
    await timed("reset_50", () => caller.json(UNREAD, `${url}/reset_edits`, { edit_count: 0 }));
    const stroke = { stroke_id: "a", region: middle(bounds, Math.sqrt(1e6 / count)), to_class: 3 };
    const painted = await timed("label", () => label([stroke]));
    await timed("label_again", () => label([{ ...stroke, stroke_id: "b", to_class: 4 }]));
    const matrix = [1, 0, 0, 10, 0, 1, 0, 20, 0, 0, 1, 5, 0, 0, 0, 1];
    await timed("rebuild", () => caller.json(UNREAD, `${url}/rebuild_octree`));
    await timed("translate", () => caller.json(UNREAD, `${url}/transform`, { matrix }));
    await remove(middle(bounds, 0.5));
    const before = usageOf(service.pid);
    const memory = new MemoryWatch(service.pid);
    await timed("bake", () => caller.run(UNREAD, `${url}/bake`));
    const { cpu_s, peak_rss_mib } = usageOf(service.pid);
    return {
      count,
      create_s,
      ...(times as StepTimes), // each step has run
      ...stagesOf,
      painted_points: painted.applied[0]?.changed_count ?? 0,
      bake_cpu_s: cpu_s - before.cpu_s,
      peak_rss_mib,
      column_mib: (count * 60) / 2 ** 20,
      anon_growth_mib: memory.stop(),
    };
  });
}

/** A stroke per cell of a grid of 10 x 10, classes 1 to 100. */
function squares({ min, max }: Bounds) {
  const [width, depth] = [(max[0] - min[0]) / 10, (max[1] - min[1]) / 10];
  return Array.from({ length: 100 }, (_, i) => {
    const [x, y] = [min[0] + (i % 10) * width, min[1] + Math.floor(i / 10) * depth];
    const region = { kind: "box", min: [x, y, min[2]], max: [x + width, y + depth, max[2]] };
    return { stroke_id: `${i}`, region, to_class: i + 1, from_classes: [0] };
  });
}

/** One cloud cut into a hundred by a label column. */
export async function extractByColumn(count: number) {
  return withService(async (service) => {
    const caller = new Caller(service);
    const { url, bounds } = await opened(caller, count);
    await caller.json(UNREAD, `${url}/label_region`, { slug: "part", strokes: squares(bounds) });
    await drained(service);
    const start = usageOf(service.pid).cpu_s;
    const rebuilt = await caller.run(UNREAD, `${url}/commit_labels`, { slug: "part" });
    const octree_cpu_s = usageOf(service.pid).cpu_s - start;
    await drained(service);
    const before = usageOf(service.pid);
    const { body, s, stages } = await caller.run(ExtractByColumnTail, `${url}/extract_by_column`, { slug: "part" });
    const after = usageOf(service.pid);
    const found = body.children.reduce((sum, child) => sum + child.point_count, 0);
    if (body.children.length !== 100 || found !== count)
      throw new Error(`${body.children.length} clouds, ${found} points`);
    return {
      count,
      wall_s: s,
      cpu_s: after.cpu_s - before.cpu_s,
      peak_rss_mib: after.peak_rss_mib,
      octree_s: rebuilt.s,
      octree_cpu_s,
      octree_stages: rebuilt.stages,
      stages: Object.keys(stages).length,
    };
  });
}
