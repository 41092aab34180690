import { writeFileSync } from "node:fs";
import type { AnalyzeClient } from "../../../backend/cli/analyze/run.ts";
import type { TextStream } from "../../../backend/cli/progress.ts";
import { ApiError, CanceledError, type RunOptions } from "../../../shared/client/index.ts";
import type { CreateSessionTail } from "../../../shared/contract/cloud-session/create.ts";
import { type FixtureOctree, makeOctree } from "../octree/potree2-fixture.ts";

export const CACHE_ID = "0123456789abcdef0123456789abcdef01234567";

/** A little cloud of 27 points with colours, one node per level. */
export function smallOctree(): FixtureOctree {
  const point = (k: number) => [
    1000 * (k % 3),
    1000 * (Math.floor(k / 3) % 3),
    1000 * Math.floor(k / 9),
    256 * k,
    0,
    0,
  ];
  const points = Array.from({ length: 27 }, (_, k) => point(k));
  return makeOctree({
    attributes: [{ name: "rgb", type: "uint16", elements: 3 }],
    offset: [10, 20, 30],
    nodes: [
      { name: "r", points: points.slice(0, 9) },
      { name: "r0", points: points.slice(9, 18) },
      { name: "r00", points: points.slice(18) },
    ],
  });
}

export function smallTail(change: Partial<CreateSessionTail> = {}): CreateSessionTail {
  const box = { min: [10, 20, 30] as const, max: [12, 22, 32] as const };
  const bounds = () => ({
    min: [...box.min] as [number, number, number],
    max: [...box.max] as [number, number, number],
  });
  return {
    session_id: "0badcafe",
    cache_id: CACHE_ID,
    cache_dir: "/cache",
    version: "2.0",
    point_count: 27,
    total_count: 30,
    spacing: 0.0625,
    scale: [0.001, 0.001, 0.001],
    offset: [10, 20, 30],
    bounds: bounds(),
    tight_bounds: bounds(),
    attributes: [
      { name: "position", size: 12, type: "int32", num_elements: 3, min: [10, 20, 30], max: [12, 22, 32] },
      {
        name: "reflectance",
        label: "Reflectance [dB]",
        size: 4,
        type: "float",
        num_elements: 1,
        min: [-20.5],
        max: [3],
      },
    ],
    robust_attribute_ranges: { reflectance: [-15, 1] },
    world_shift: [476000, 5429000, 0],
    source_units: null,
    source_unit_scale: null,
    ground_z: 30.25,
    robust_extent: [2, 2, 2],
    point_spacing: 1,
    has_misses: true,
    miss_slug: "is_miss",
    miss_count: 3,
    miss_octree_cache_id: null,
    ...change,
  };
}

export interface FakeService {
  readonly client: AnalyzeClient;
  /** Calls in order, as "method" or "octree.bin start-end". */
  readonly calls: string[];
  readonly requests: Record<string, unknown>;
}

type Step = keyof AnalyzeClient;

/**
 * A service without a service: answers from the fixture. `before` runs at the start of each call and may throw; a run
 * whose signal has fired is canceled, as the real client does it.
 */
export function fakeService(
  octree: FixtureOctree = smallOctree(),
  tail: CreateSessionTail = smallTail(),
  before: (step: Step) => void | Promise<void> = () => undefined,
): FakeService {
  const calls: string[] = [];
  const requests: Record<string, unknown> = {};
  const files = octree.files();
  const enter = async (step: Step, options: RunOptions | undefined, name: string = step) => {
    calls.push(name);
    await before(step);
    if (options?.signal?.aborted) throw new CanceledError("run");
    options?.onProgress?.({ progress: 0.5, message: "Half-way", run_id: "run" });
  };
  const client: AnalyzeClient = {
    version: async (call) => {
      await enter("version", call);
      return { version: "9.9.9" };
    },
    preview: async (request, call) => {
      requests.preview = request;
      await enter("preview", call);
      return {
        kind: "ascii",
        delimiter: null,
        has_header: false,
        columns: [],
        sample_rows: [],
        warning: null,
        suggested_shift: null,
        point_count: tail.total_count,
      };
    },
    createSession: async (request, run) => {
      requests.createSession = request;
      await enter("createSession", run);
      return tail;
    },
    closeSession: async (session_id, call) => {
      await enter("closeSession", call);
      return { session_id, deleted: true };
    },
    merge: async (request, call) => {
      requests.merge = request;
      await enter("merge", call);
      return { merged: { ...octreeOf(tail), ...mergedPart(tail), session_id: "merged00" } };
    },
    transform: async (id, request, call) => {
      requests.transform = { id, ...request };
      await enter("transform", call);
      return { ...octreeOf(tail), session_id: id, total_count: 30, miss_octree_cache_id: null, octree_posed: false };
    },
    filter: async (id, request, run) => {
      requests.filter = { id, ...request };
      await enter("filter", run);
      const { session_id: _, ...octree } = octreeOf(tail);
      return { ...octree, session_id: id, point_count: 20, rebuilt: true, miss_octree_cache_id: null };
    },
    denoiseSession: async (_id, _request, call) => {
      await enter("denoiseSession", call);
      throw new ApiError(400, "invalid_argument", "Need at least 1000 points for noise detection", undefined);
    },
    segmentGroundSession: async (_id, _request, call) => {
      await enter("segmentGroundSession", call);
      throw new ApiError(400, "invalid_argument", "no ground in this fixture", undefined);
    },
    sessionDem: async (_id, _request, run) => {
      await enter("sessionDem", run);
      throw new ApiError(200, "invalid_argument", "no terrain in this fixture", undefined);
    },
    rebuildOctree: async (id, call) => {
      await enter("rebuildOctree", call);
      return { ...octreeOf(tail), session_id: id, total_count: 30, miss_octree_cache_id: null, octree_posed: false };
    },
    exportCloud: async (request, run) => {
      requests.exportCloud = request;
      await enter("exportCloud", run);
      const { dest_path, format = "las" } = request;
      if (typeof dest_path === "string") writeFileSync(dest_path, "the copy");
      return { success: true, data: null, filename: "x", point_count: 30, has_colors: true, format, error: null };
    },
    exportRaster: async (request, call) => {
      requests.exportRaster = request;
      await enter("exportRaster", call);
      if (typeof request.dest_path === "string") writeFileSync(request.dest_path, "the raster");
      return { success: true, format: request.format === "asc" ? "asc" : "tif", data_base64: null };
    },
    stageScene: async (document, call) => {
      requests.stageScene = document;
      await enter("stageScene", call);
      return { token: "f".repeat(32), bytes: document.length };
    },
    saveProject: async (request, run) => {
      requests.saveProject = request;
      await enter("saveProject", run);
      const { path } = request;
      writeFileSync(path, "the project");
      return { success: true, error: null, path, bytes: 11, sessions: 1, octrees: 0, missing_sessions: [] };
    },
    octreeFile: async (_, name, range, call) => {
      await enter("octreeFile", call, range ? `${name} ${range.start}-${range.end}` : name);
      const bytes = files[name] ?? new Uint8Array();
      return range ? bytes.slice(range.start, range.end + 1) : bytes;
    },
  };
  return { client, calls, requests };
}

function octreeOf(tail: CreateSessionTail) {
  const { session_id, cache_id, cache_dir, version, point_count, spacing, scale, offset, bounds, tight_bounds } = tail;
  const { attributes } = tail;
  return {
    session_id,
    cache_id,
    cache_dir,
    version,
    point_count,
    spacing,
    scale,
    offset,
    bounds,
    tight_bounds,
    attributes,
  };
}

function mergedPart({ world_shift, source_units, source_unit_scale, has_misses }: CreateSessionTail) {
  return { world_shift, source_units, source_unit_scale, has_misses, miss_octree_cache_id: null };
}

/** A stream that remembers. */
export function textSink(isTTY = false): TextStream & { text: string } {
  return {
    isTTY,
    text: "",
    write(text: string) {
      this.text += text;
      return true;
    },
  };
}
