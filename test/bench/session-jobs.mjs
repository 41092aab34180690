// The life of one large session: deletions, labels, bake, move, extraction, recovery after kill -9.
import { readFileSync } from "node:fs";
import { plotFiles } from "./native.mjs";
import { MemoryWatch, usageOf } from "./process.mjs";
import { transportOf, withService } from "./service.mjs";

const now = () => performance.now() / 1000;
const HEAVY_MS = 600_000;

/** Calls session endpoints and tells how long each took. */
class Caller {
  #transport;
  constructor(service) {
    this.#transport = transportOf(service);
  }
  async json(path, json = {}) {
    const started = now();
    const body = await this.#transport.json({ method: "POST", path, json, timeoutMs: HEAVY_MS });
    return { body, s: now() - started };
  }
  async run(path, json = {}) {
    const stages = {};
    let last;
    const close = () => {
      if (last) stages[last.message] = Number(((stages[last.message] ?? 0) + now() - last.at).toFixed(3));
    };
    const onProgress = ({ message }) => {
      if (message === last?.message) return;
      close();
      last = { message, at: now() };
    };
    const started = now();
    const outcome = await this.#transport.run({ method: "POST", path, json, timeoutMs: HEAVY_MS }, { onProgress });
    close();
    if (outcome.kind !== "json") throw new Error(`${path} ended as ${outcome.kind}`);
    return { body: outcome.value, s: now() - started, stages };
  }
}

/**
 * Waits until the service has done what it does behind an answer and the system has written what that left in its cache:
 * a user's steps are seconds apart, and a step that waits for the one before measures that one.
 */
async function drained(service) {
  for (let i = 0; i < 200; i += 1) {
    const before = usageOf(service.pid).cpu_s;
    await new Promise((resolve) => setTimeout(resolve, 300));
    if (usageOf(service.pid).cpu_s - before < 0.03) break;
  }
  const mib = (key) =>
    Number(new RegExp(`^${key}:\\s+(\\d+)`, "m").exec(readFileSync("/proc/meminfo", "utf8"))?.[1] ?? 0) / 1024;
  for (let i = 0; i < 600 && mib("Dirty") + mib("Writeback") > 200; i += 1)
    await new Promise((resolve) => setTimeout(resolve, 100));
}

const IDENTITY = [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1];
/** A camera that looks straight down on `bounds`: one pixel is `extent / 1000` metres. Column-major. */
function topView({ min, max }) {
  const [sx, sy] = [2 / (max[0] - min[0]), 2 / (max[1] - min[1])];
  const projection = [sx, 0, 0, 0, 0, sy, 0, 0, 0, 0, 0, 0, -1 - min[0] * sx, -1 - min[1] * sy, 0, 1];
  return { projection, view: IDENTITY, canvas: { width: 1000, height: 1000 } };
}

/** A star of `count` corners round the middle of the canvas: a lasso with as many edges. */
function lasso(count, radius) {
  return Array.from({ length: count }, (_, i) => {
    const angle = (2 * Math.PI * i) / count;
    const r = radius * (1 + 0.2 * Math.sin(17 * angle));
    return [500 + r * Math.cos(angle), 500 + r * Math.sin(angle)];
  });
}

/** The middle share of a box, in every axis but z. */
function middle({ min, max }, share) {
  const side = (axis, sign) => (min[axis] + max[axis]) / 2 + (sign * share * (max[axis] - min[axis])) / 2;
  return { kind: "box", min: [side(0, -1), side(1, -1), min[2]], max: [side(0, 1), side(1, 1), max[2]] };
}

async function opened(caller, count, more = {}) {
  const { las } = await plotFiles(count);
  const { body, s } = await caller.run("/api/cloud/session/create", { source_path: las, ...more });
  if (body.total_count !== count) throw new Error(`the service counts ${body.total_count} points, not ${count}`);
  return { ...body, url: `/api/cloud/session/${body.session_id}`, create_s: s };
}

/** Deletions, undo, labels, a move and a bake of one session. */
export async function edits(count) {
  return withService(async (service) => {
    const caller = new Caller(service);
    const cloud = await opened(caller, count);
    const { url, tight_bounds: box } = cloud;
    const region = middle(box, 0.1);
    const polygon = { kind: "polygon", points: lasso(500, 60), ...topView(box) };
    const times = { create_s: cloud.create_s };
    const timed = async (name, call) => {
      await drained(service);
      const { body, s, stages } = await call();
      times[name] = s;
      if (stages) times[`${name}_stages`] = stages;
      return body;
    };
    const first = await timed("delete_box_s", () => caller.json(`${url}/delete_region`, { region }));
    if (first.deleted_count === 0) throw new Error("the box holds no point");
    await timed("delete_polygon_s", () => caller.json(`${url}/delete_region`, { region: polygon }));
    for (let i = 2; i < 50; i += 1) await caller.json(`${url}/delete_region`, { region: middle(box, 0.1 + i / 500) });
    await timed("reset_50_s", () => caller.json(`${url}/reset_edits`, { edit_count: 0 }));
    const strokes = [{ stroke_id: "a", region: middle(box, Math.sqrt(1e6 / count)), to_class: 3 }];
    const painted = await timed("label_s", () => caller.json(`${url}/label_region`, { strokes }));
    times.painted_points = painted.applied[0].changed_count;
    const again = [{ ...strokes[0], stroke_id: "b", to_class: 4 }];
    await timed("label_again_s", () => caller.json(`${url}/label_region`, { strokes: again }));
    const matrix = [1, 0, 0, 10, 0, 1, 0, 20, 0, 0, 1, 5, 0, 0, 0, 1];
    await timed("rebuild_s", () => caller.json(`${url}/rebuild_octree`));
    await timed("translate_s", () => caller.json(`${url}/transform`, { matrix }));
    await caller.json(`${url}/delete_region`, { region: middle(box, 0.5) });
    const before = usageOf(service.pid);
    const memory = new MemoryWatch(service.pid);
    await timed("bake_s", () => caller.run(`${url}/bake`));
    const { cpu_s, peak_rss_mib } = usageOf(service.pid);
    const column_mib = (count * 60) / 2 ** 20;
    return {
      count,
      ...times,
      bake_cpu_s: cpu_s - before.cpu_s,
      peak_rss_mib,
      column_mib,
      anon_growth_mib: memory.stop(),
    };
  });
}

/** One cloud cut into a hundred by a label column. */
export async function extractByColumn(count) {
  return withService(async (service) => {
    const caller = new Caller(service);
    const { url, tight_bounds: box } = await opened(caller, count);
    const strokes = [];
    const step = (axis) => (box.max[axis] - box.min[axis]) / 10;
    for (let i = 0; i < 100; i += 1) {
      const corner = [box.min[0] + (i % 10) * step(0), box.min[1] + Math.floor(i / 10) * step(1)];
      const max = [corner[0] + step(0), corner[1] + step(1), box.max[2]];
      strokes.push({
        stroke_id: `${i}`,
        region: { kind: "box", min: [...corner, box.min[2]], max },
        to_class: i + 1,
        from_classes: [0],
      });
    }
    await caller.json(`${url}/label_region`, { slug: "part", strokes });
    await drained(service);
    const start = usageOf(service.pid).cpu_s;
    const rebuilt = await caller.run(`${url}/commit_labels`, { slug: "part" });
    const octree_cpu_s = usageOf(service.pid).cpu_s - start;
    await drained(service);
    const before = usageOf(service.pid);
    const { body, s, stages } = await caller.run(`${url}/extract_by_column`, { slug: "part" });
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

/** Several edited sessions, kill -9, a new start: the time to READY and to the first touch of each. */
export async function recovery(count, sessions) {
  return withService(async (service) => {
    const caller = new Caller(service);
    const urls = [];
    for (let i = 0; i < sessions; i += 1) {
      const { url, tight_bounds } = await opened(caller, count, { world_shift: [i, 0, 0] });
      await caller.json(`${url}/delete_region`, { region: middle(tight_bounds, 0.3) });
      const strokes = [{ stroke_id: "s", region: middle(tight_bounds, 0.5), to_class: 2 }];
      await caller.json(`${url}/label_region`, { strokes });
      urls.push(url);
    }
    const ready_s = await service.killAndRestart();
    const again = new Caller(service);
    const touches = [];
    for (const url of urls.reverse()) {
      const { body, s } = await again.json(`${url}/reset_edits`, { edit_count: 1 });
      if (body.total_count !== count || body.deleted_count === 0) throw new Error("an edit was lost");
      touches.push(s);
    }
    return { count, wall_s: ready_s, first_touch_max_s: Math.max(...touches), first_touch_s: touches };
  });
}

/**
 * What the journal costs: a create and a small edit with it, beside the same without. Without, with, with, without: the
 * system is slower to hand out memory that it has not used lately, and who comes first would pay for that.
 */
export async function journal(count) {
  const measured = (settings) =>
    withService(
      async (service) => {
        const caller = new Caller(service);
        const { url, create_s, tight_bounds } = await opened(caller, count);
        await drained(service);
        const region = middle(tight_bounds, 0.02);
        const edits = [];
        for (let i = 0; i < 20; i += 1) {
          edits.push((await caller.json(`${url}/delete_region`, { region })).s);
          edits.push((await caller.json(`${url}/reset_edits`, { edit_count: 0 })).s);
        }
        return { create_s, edit_s: edits.sort((a, b) => a - b)[20] };
      },
      undefined,
      settings,
    );
  const OFF = { APP_SESSION_JOURNAL: "0" };
  const runs = [];
  for (const settings of [OFF, {}, {}, OFF]) runs.push(await measured(settings));
  const mean = (figure, a, b) => (runs[a][figure] + runs[b][figure]) / 2;
  return {
    count,
    wall_s: mean("create_s", 1, 2),
    create_without_s: mean("create_s", 0, 3),
    create_share: mean("create_s", 1, 2) / mean("create_s", 0, 3) - 1,
    edit_ms: mean("edit_s", 1, 2) * 1000,
    edit_without_ms: mean("edit_s", 0, 3) * 1000,
    creates_s: runs.map(({ create_s }) => create_s),
  };
}
