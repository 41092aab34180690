import { type Document, isMap, isScalar, LineCounter, parseDocument } from "yaml";
import { z } from "zod";
import { INVENTORY_DEFAULTS, TreeInventoryRequest } from "../../../shared/contract/cloud-session/tree-inventory.ts";
import { CIRCLE_SEARCHES } from "../../../shared/contract/cloud-session/tree-inventory-rows.ts";
import { TreeQsmRequest } from "../../../shared/contract/cloud-session/tree-qsm.ts";
import { DEM_METHODS, SURFACE_TYPES } from "../../../shared/contract/dem.ts";
import { QsmParams } from "../../../shared/contract/qsm.ts";
import { GROUND_METHODS, GroundFilter } from "../../../shared/contract/segment-ground.ts";
import { DEFAULT_TILE_BUFFER_M, TREE_METHODS, TreeFilter } from "../../../shared/contract/segment-trees.ts";
import { SHAPE_METHODS, WoodFilter } from "../../../shared/contract/segment-wood.ts";
import { AppError } from "../../../shared/errors.ts";
import { nearestName } from "../edit-distance.ts";

const positive = z.number().positive();

/** A step whose parameters are those of the endpoint; a key without a value takes the defaults. */
const step = <Shape extends z.ZodRawShape>(shape: Shape) =>
  z.preprocess((value) => (value === null ? {} : value), z.strictObject(shape)).optional();

const { method: _g, frame: _f, ...groundFields } = GroundFilter.shape;
const { method: _t, ...treeFields } = TreeFilter.shape;
const { method: _w, model_id: _m, ...woodFields } = WoodFilter.shape;
const { tree_ids: _i, ...inventoryFields } = TreeInventoryRequest.shape;

/** What a workflow file may say. */
export const Workflow = z.strictObject({
  tiles: step({ size_m: positive.optional(), buffer_m: z.number().nonnegative().optional() }),
  ground: step({ method: z.enum(GROUND_METHODS).default("auto"), ...groundFields }),
  rasters: step({
    cell_m: positive.optional(),
    surfaces: z
      .array(z.enum(SURFACE_TYPES))
      .min(1)
      .default([...SURFACE_TYPES]),
    method: z.enum(DEM_METHODS).default("tin"),
    ground_percentile: z.number().min(0).max(100).default(5),
    slope_correction: z.boolean().default(true),
  }),
  trees: step({
    method: z.enum(TREE_METHODS).default("auto"),
    tile_buffer_m: positive.default(DEFAULT_TILE_BUFFER_M),
    ...treeFields,
  }),
  wood: step({ method: z.enum(SHAPE_METHODS).default("sota"), ...woodFields }),
  inventory: step({
    ...inventoryFields,
    fit_method: z.enum(CIRCLE_SEARCHES).default(INVENTORY_DEFAULTS.fit_method),
    plot_area_m2: positive.optional(),
    min_dbh_cm: z.number().nonnegative().optional(),
  }),
  qsm: step({ ...QsmParams.shape, max_points_per_tree: TreeQsmRequest.shape.max_points_per_tree }),
});
export type Workflow = z.infer<typeof Workflow>;

/** Steps that another one reads. */
const NEEDS: readonly (readonly [step: keyof Workflow, needs: keyof Workflow, why: string])[] = [
  ["rasters", "ground", "the terrain is made of ground points"],
  ["trees", "ground", "trees stand above the ground"],
  ["trees", "rasters", "heights above the ground come from the terrain"],
  ["wood", "ground", "the ground is neither wood nor leaf"],
  ["inventory", "trees", "it measures trees"],
  ["qsm", "trees", "it models trees one by one"],
];

/** Reads a workflow. Errors: invalid_argument with file, line, key and rule. */
export function parseWorkflow(text: string, name: string): Workflow {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  const refuse = (line: number, message: string) =>
    new AppError("invalid_argument", `${name}, line ${line}: ${message}`);
  const [syntax] = document.errors;
  if (syntax) throw refuse(lines.linePos(syntax.pos[1]).line, syntax.message);
  if (!isMap(document.contents))
    throw refuse(1, "a workflow is a list of steps such as `ground:`, `rasters:`, `trees:`, `inventory:`");
  let content: unknown;
  try {
    content = document.toJS();
  } catch (cause) {
    throw refuse(1, cause instanceof Error ? cause.message : String(cause)); // aliases without end
  }
  const parsed = Workflow.safeParse(content);
  const lineOf = (path: readonly PropertyKey[]) => lines.linePos(offsetOf(document, path)).line;
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    if (!issue) throw refuse(1, "not valid");
    if (issue.code === "unrecognized_keys") throw refuse(lineOf([...issue.path, issue.keys[0] ?? ""]), unknown(issue));
    throw refuse(lineOf(issue.path), `${issue.path.map(String).join(".")}: ${issue.message}`);
  }
  for (const [given, needs, why] of NEEDS) {
    if (parsed.data[given] !== undefined && parsed.data[needs] === undefined)
      throw refuse(lineOf([given]), `step ${given} needs step ${needs}: ${why}; add \`${needs}:\``);
  }
  if (Object.keys(parsed.data).every((key) => key === "tiles"))
    throw refuse(1, "the workflow has no step; add `ground:`, for example");
  return parsed.data;
}

function unknown({ path, keys }: { readonly path: readonly PropertyKey[]; readonly keys: readonly string[] }): string {
  const [key = ""] = keys;
  const known = path.length === 0 ? Object.keys(Workflow.shape) : keysOfStep(String(path[0]));
  const nearest = nearestName(key, known);
  const hint = nearest ? `did you mean ${nearest}?` : `known are ${known.join(", ")}`;
  return `${[...path, key].map(String).join(".")} is not known; ${hint}`;
}

function keysOfStep(name: string): string[] {
  const schema = Workflow.shape[name as keyof Workflow];
  const inner = schema.unwrap() as unknown as { readonly out: { readonly shape: Record<string, unknown> } };
  return Object.keys(inner.out.shape);
}

/** Where the key at the end of a path stands in the text; of a missing one, its parent. */
function offsetOf(document: Document, path: readonly PropertyKey[]): number {
  for (let length = path.length; length > 0; length -= 1) {
    const parent = length === 1 ? document.contents : document.getIn(path.slice(0, length - 1), true);
    if (!isMap(parent)) continue;
    const pair = parent.items.find(({ key }) => isScalar(key) && key.value === path[length - 1]);
    if (pair && isScalar(pair.key) && pair.key.range) return pair.key.range[0];
  }
  return 0;
}
