import type { Point } from "../../../../shared/contract/geometry.ts";
import type { OctreeAttribute, OctreeMetadata } from "../../../../shared/octree/potree2-metadata.ts";
import type { CloudInput, Colouring, ColumnInfo } from "../cloud-view.ts";
import { colourAttribute } from "../octree/columns.ts";

/** A cloud as far as colours depend on it. */
export interface ColouredCloud {
  readonly input: CloudInput;
  readonly metadata: OctreeMetadata;
  readonly shift: Point;
}

/** How the points of one cloud are drawn. */
export type PointColours =
  | { readonly mode: "flat" | "rgb" }
  | { readonly mode: "height"; readonly range: readonly [number, number] }
  | { readonly mode: "ramp"; readonly column: OctreeAttribute; readonly range: readonly [number, number] }
  | { readonly mode: "class"; readonly column: OctreeAttribute };

/** Class columns in the order in which "class" looks for one. */
export const CLASS_COLUMNS = [
  "las_classification",
  "classification",
  "manual_class",
  "ground_class",
  "wood_class",
  "tree_instance",
  "noise_class",
];
/** What is no column to colour by. */
const NOT_COLUMNS = new Set(["position", "rgb", "rgba"]);
export const TREE_COLUMN = "tree_instance";
/** Whole numbers that are amounts and not names of things. */
const AMOUNTS = new Set(["intensity", "return_number", "number_of_returns", "row_index", "column_index"]);

export const columnOf = ({ metadata }: Pick<ColouredCloud, "metadata">, name: string) =>
  metadata.attributes.find((attribute) => attribute.name === name && attribute.num_elements === 1);

/** Whether a column holds classes: whole numbers, by the values that occur or by its type. */
export function isInteger({ input }: Pick<ColouredCloud, "input">, { name, type }: OctreeAttribute): boolean {
  return input.octree.observed_classes?.[name] !== undefined || /int/.test(type);
}

export function isClass(cloud: Pick<ColouredCloud, "input">, attribute: OctreeAttribute): boolean {
  return isInteger(cloud, attribute) && !AMOUNTS.has(attribute.name);
}

/** Values at the ends of the ramp: what most values lie between, where the service says so. */
export function rangeOf({ input }: Pick<ColouredCloud, "input">, attribute: OctreeAttribute): [number, number] | null {
  const robust = input.octree.robust_attribute_ranges?.[attribute.name];
  if (robust) return [robust[0], robust[1]];
  const [min, max] = [attribute.min[0], attribute.max[0]];
  return min === undefined || max === undefined ? null : [min, max];
}

/** World heights at the ends of the ramp. */
export function heightRange({ input, metadata, shift }: ColouredCloud): [number, number] {
  const box = input.octree.robust_bounds ?? input.octree.tight_bounds ?? metadata.bounds;
  return [box.min[2] + shift[2], box.max[2] + shift[2]];
}

const union = (ranges: readonly (readonly [number, number] | null)[]): [number, number] | null =>
  ranges.reduce<[number, number] | null>((sum, range) => {
    if (!range) return sum;
    return sum ? [Math.min(sum[0], range[0]), Math.max(sum[1], range[1])] : [range[0], range[1]];
  }, null);

/** The column that a colouring names or means; undefined where a cloud has none. */
export function namedColumn(cloud: ColouredCloud, { kind, column }: Colouring): OctreeAttribute | undefined {
  if (kind === "intensity") return columnOf(cloud, "intensity");
  if (column !== undefined) return columnOf(cloud, column);
  if (kind !== "class") return undefined;
  const named = CLASS_COLUMNS.map((name) => columnOf(cloud, name)).find((found) => found !== undefined);
  return named ?? cloud.metadata.attributes.find(({ name }) => name.endsWith("_class"));
}

/** The columns that a colouring can take: of "class" those that hold whole numbers. */
export function columnsFor<C extends { readonly is_integer: boolean }>(
  kind: Colouring["kind"],
  columns: readonly C[],
): readonly C[] {
  if (kind === "column") return columns;
  return kind === "class" ? columns.filter(({ is_integer }) => is_integer) : [];
}

/** Colours of each cloud. All clouds share one range. */
export function resolveColours<C extends ColouredCloud>(
  clouds: readonly C[],
  colouring: Colouring,
): Map<C, PointColours> {
  const heights = union(clouds.map(heightRange)) ?? [0, 1];
  const columns = clouds.map((cloud) => namedColumn(cloud, colouring));
  const values = union(clouds.map((cloud, i) => (columns[i] ? rangeOf(cloud, columns[i]) : null)));
  const given = colouring.range;
  const height: PointColours = { mode: "height", range: (colouring.kind === "height" ? given : undefined) ?? heights };
  return new Map(
    clouds.map((cloud, i): [C, PointColours] => {
      const column = columns[i];
      if (colouring.kind === "flat") return [cloud, { mode: "flat" }];
      if (colouring.kind === "rgb") return [cloud, colourAttribute(cloud.metadata) ? { mode: "rgb" } : height];
      if (!column) return [cloud, height];
      const asClass = colouring.kind === "class" || (colouring.kind === "column" && !given && isClass(cloud, column));
      return [cloud, asClass ? { mode: "class", column } : { mode: "ramp", column, range: given ?? values ?? [0, 1] }];
    }),
  );
}

/** Columns of all clouds by name, ranges joined. */
export function columnInfos(clouds: readonly ColouredCloud[]): ColumnInfo[] {
  const found = new Map<string, ColumnInfo>();
  for (const cloud of clouds) {
    for (const attribute of cloud.metadata.attributes) {
      const { name, num_elements } = attribute;
      if (NOT_COLUMNS.has(name) || num_elements !== 1) continue;
      const before = found.get(name);
      const label = cloud.input.octree.attributes.find((one) => one.name === name)?.label ?? before?.label ?? name;
      found.set(name, {
        name,
        label,
        is_integer: (before?.is_integer ?? true) && isInteger(cloud, attribute),
        range: union([before?.range ?? null, rangeOf(cloud, attribute)]),
      });
    }
  }
  return [...found.values()];
}
