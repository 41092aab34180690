import { join } from "node:path";
import type { TestApp } from "../app/app.ts";
import { staged } from "../project/project.ts";
import { RASTER, SCANNER } from "./scanned-trees.ts";

/** What a request of an operation refers to. */
export interface Place {
  readonly made: TestApp;
  /** The session that both operations work on. */
  readonly id: string;
  /** A second session, which nothing changes. */
  readonly other: string;
  /** A project file with one session. */
  readonly project: string;
  /** A folder for the files of this one request. */
  readonly folder: string;
}

export interface Operation {
  readonly name: string;
  readonly method: "GET" | "POST" | "DELETE";
  readonly url: (place: Place) => string;
  readonly body?: (place: Place) => object | Promise<object>;
  /** Files below the folder of the request that it writes. */
  readonly files?: readonly string[];
  /** Whether it may change the session. */
  readonly edits: boolean;
}

/** A box round what has this range of x, the whole of y and z. */
const slab = (from: number, to: number) => ({ kind: "box", min: [from, -99, -99], max: [to, 99, 99] });
const source = ({ id }: Place) => ({ session_id: id });
const scan = ({ id }: Place) => ({ session_id: id, origin: SCANNER, ...RASTER });
const grid = { center: [0, 0, 2], size: [6, 6, 4], nx: 3, ny: 3, nz: 2 };
const mesh = { mesh_vertices: [-9, -9, 0, 9, -9, 0, -9, 9, 0, 9, 9, 0], mesh_indices: [0, 1, 2, 1, 3, 2] };
const QUARTER_TURN = [0, -1, 0, 2, 1, 0, 0, 1, 0, 0, 1, 0, 0, 0, 0, 1];
const SHIFT = [1, 0, 0, 3, 0, 1, 0, -1, 0, 0, 1, 0, 0, 0, 0, 1];
const SCALE = [2, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1];

/** An action of the session. */
const action = (
  name: string,
  path: string,
  body: object | ((place: Place) => object | Promise<object>) = {},
  edits = true,
): Operation => ({
  name,
  method: "POST",
  url: ({ id }) => `/api/cloud/session/${id}/${path}`,
  body: typeof body === "function" ? (body as (place: Place) => object) : () => body,
  edits,
});

/** A request that reads the session. */
const reading = (name: string, url: string, body: (place: Place) => object | Promise<object>): Operation => ({
  name,
  method: "POST",
  url: () => url,
  body,
  edits: false,
});

const stroke = (stroke_id: string, from: number, to: number, to_class: number) => ({
  slug: "class",
  strokes: [{ stroke_id, region: slab(from, to), to_class }],
});

const EDITS: readonly Operation[] = [
  action("delete_region", "delete_region", { region: slab(-9, -2.5) }),
  action("delete_region all", "delete_region", { region: slab(-9, 9) }),
  action("reset_edits", "reset_edits", { edit_count: 1 }),
  action("label_region", "label_region", stroke("c", -3, 1, 4)),
  action("label_region new", "label_region", { ...stroke("d", 0, 3, 6), slug: "own" }),
  action("reset_label_edits", "reset_label_edits", { slug: "class", undo_after_stroke_ids: ["a"] }),
  action("commit_labels", "commit_labels", { slug: "class" }),
  action("bake", "bake?compact=true"),
  action("bake rows kept", "bake?compact=false"),
  action("filter", "filter", { region: slab(-2.6, 2.6) }),
  action("filter rows", "filter", { scalar_filters: [{ slug: "class", values: [0, 1, 2] }], rebuild: false }),
  action("split", "split", { region: slab(0, 9) }),
  action("extract", "extract", { region: slab(0, 9) }, false),
  action("extract_by_column", "extract_by_column", { slug: "tree_instance", rebuild_parent: true }),
  action("duplicate", "duplicate", {}, false),
  action("transform", "transform", { matrix: QUARTER_TURN }),
  action("transform shift", "transform", { matrix: SHIFT }),
  action("transform pose", "transform", { matrix: SCALE, octree_mode: "pose" }),
  action("align_scans", "align_scans", {}),
  action("rebuild_octree", "rebuild_octree"),
  action("backfill", "backfill-misses", { origin: SCANNER, ...RASTER }),
  action("denoise", "denoise", { method: "ror", radius: 0.4, min_neighbors: 3 }),
  action("denoise deferred", "denoise", { method: "sor", defer_octree: true }),
  action("ground", "segment_ground", { method: "smrf" }),
  action("trees", "segment_trees", { method: "default" }),
  action("wood", "segment_wood", { method: "geometric" }),
  action("stems", "detect_stems", {}, false),
  action("dem", "dem", { cell_size: 1, add_height_column: true }),
  action("inventory", "tree_inventory", {}, false),
  action("qsm of trees", "tree_qsm", { wood_only: false, max_points_per_tree: 1000 }, false),
  {
    name: "merge",
    method: "POST",
    url: () => "/api/cloud/session/merge",
    body: ({ id, other }) => ({ session_ids: [id, other] }),
    edits: false,
  },
  { name: "close", method: "DELETE", url: ({ id }) => `/api/cloud/session/${id}`, edits: true },
];

const READS: readonly Operation[] = [
  {
    name: "label_summary",
    method: "GET",
    url: ({ id }) => `/api/cloud/session/${id}/label_summary?slug=class`,
    edits: false,
  },
  ...(["las", "laz", "e57", "csv"] as const).map(
    (format): Operation => ({
      ...reading(`export ${format}`, "/api/pointcloud/export", (place) => ({
        source: source(place),
        format,
        dest_path: join(place.folder, `cloud.${format}`),
      })),
      files: format === "e57" ? [] : [`cloud.${format}`], // an E57 file has ids and a date of its own
    }),
  ),
  {
    ...reading("export scans", "/api/scan/export-xml", (place) => ({
      scans: [{ session_id: place.id, origin: SCANNER, label: "one" }],
      dest_dir: place.folder,
    })),
    files: ["scans.xml"],
  },
  reading("project save", "/api/project/save", async (place) => ({
    path: join(place.folder, "saved.proj"),
    scene_token: await staged(place.made),
    session_ids: [place.id],
  })),
  reading("project open", "/api/project/open", ({ project }) => ({ path: project })),
  reading("lad", "/api/lad/compute", (place) => ({
    scans: [scan(place)],
    grid,
    gtheta_override: true,
    gtheta: 0.5,
  })),
  reading("scan mesh", "/api/triangulate/lidar", (place) => ({ scans: [scan(place)] })),
  reading("alpha mesh", "/api/triangulate", (place) => ({ sources: [source(place)], method: "alpha_shape" })),
  reading("distance", "/api/c2m/distance", (place) => ({ source: source(place), ...mesh })),
  reading("skeleton", "/api/skeleton/extract", (place) => ({ source: source(place), search_radius: 0.4 })),
  reading("qsm", "/api/qsm/build", (place) => ({ source: source(place) })),
  reading("crown", "/api/fit/crown", (place) => ({ source: source(place), shape: "ellipsoid" })),
];

/** Every operation on a session: those that may change it or make others of it, and those that read it. */
export const OPERATIONS: readonly Operation[] = [...EDITS, ...READS];
