import { LAS_GROUND } from "../../../shared/contract/segment-ground.ts";
import { AppError } from "../../../shared/errors.ts";
import type { Job } from "../../jobs/job.ts";
import * as native from "../../native/classify/ground.ts";
import { addon } from "../../native/core/addon.ts";
import type { NativeColumn } from "../../native/core/handles.ts";
import type { CloudState } from "../../sessions/cloud-session.ts";
import { ColumnRef } from "../../sessions/column-ref.ts";
import { optionalExtra } from "../octree/columns.ts";
import { STRUCTURES } from "./structure-rows.ts";

const SLUG = "las_classification";
/** LAS: medium and high vegetation. What is low is ground in one file and plant in another. */
const PLANTS = [4, 5];
/** Classes that are ground in some files: model key-points before LAS 1.4, water, road surface. */
const NEAR_GROUND: readonly (readonly [number, string])[] = [
  [8, "model key-points, which are ground in files before LAS 1.4"],
  [9, "water"],
  [11, "road surface"],
];

/** Share of the points of a kind from which labels that contradict the file are told, and the fewest such points. */
const TOLD_SHARE = 0.1;
const FEWEST = 20;
/** Share of points that `auto` labels differently from which the labels of a file are doubted. */
const DOUBTED = 0.25;

/** The classes that a file gave its points. */
export type FileClasses = { readonly column: NativeColumn } | { readonly constant: number };

/** Null: the points have no classes. */
export function fileClasses(state: CloudState): FileClasses | null {
  const column = optionalExtra(state, SLUG);
  if (column) return { column };
  const constant = state.meta.constant_dimensions?.find(({ name }) => name === "classification");
  return constant ? { constant: constant.value } : null;
}

const refused = (message: string) =>
  new AppError("invalid_argument", `method "las_classification" ${message}; choose method auto`);

interface Rows {
  readonly positions: NativeColumn;
  readonly skip: NativeColumn | null;
}

/** Labels by the classes of the file. Errors: invalid_argument where no point is ground by them. */
export async function groundOfFile(
  { positions, skip }: Rows,
  classes: FileClasses | null,
  ground_classes: readonly number[],
  job: Job,
): Promise<native.GroundLabels> {
  if (!classes) throw refused("takes the ground that a file labels, and these points have no classes");
  if ("constant" in classes && !ground_classes.includes(classes.constant))
    throw refused(`finds no ground: all points have class ${classes.constant}, not ${ground_classes.join(" or ")}`);
  const column = "column" in classes ? classes.column : filled(classes.constant, positions.length, job);
  const found = await job.track(() => native.groundOfFile(positions, skip, column, ground_classes));
  if (found.num_ground > 0) return found;
  job.adopt(new ColumnRef(found.ground_class));
  throw refused(`finds no ground: no point has class ${ground_classes.join(" or ")} (ground_classes)`);
}

const filled = (value: number, rows: number, job: Job): NativeColumn =>
  job.adopt(new ColumnRef(new addon.Column("u8", new Uint8Array(rows).fill(value)))).native;

/** Numbers of ground and plant labels by the class of the file. */
class ByClass {
  constructor(private readonly counts: Float64Array) {}
  ground = (...classes: readonly number[]) => this.#sum(classes, 0);
  plant = (...classes: readonly number[]) => this.#sum(classes, 1);
  #sum(classes: readonly number[], part: 0 | 1): number {
    return classes.reduce((sum, value) => sum + (this.counts[2 * value + part] ?? 0), 0);
  }
}

const share = (part: number, rest: number) => (part < FEWEST ? 0 : part / (part + rest));
const percent = (value: number) => `${(100 * value).toFixed(0)} %`;

/** What a person must know about labels that contradict those of the file. */
export async function contradictionWarnings(
  labels: NativeColumn,
  classes: FileClasses | null,
  job: Job,
): Promise<string[]> {
  if (!classes || "constant" in classes) return [];
  const { column } = classes;
  const by = new ByClass(await job.track(() => native.labelsByClass(labels, column)));
  const kinds = [
    [by.plant(LAS_GROUND), by.ground(LAS_GROUND), "ground (2)", "plant"],
    [by.ground(...PLANTS), by.plant(...PLANTS), "medium and high vegetation (4, 5)", "ground"],
    [by.ground(...STRUCTURES), by.plant(...STRUCTURES), "buildings, wires and bridges (6, 13 to 17)", "ground"],
  ] as const;
  const told = kinds.flatMap(([wrong, right, name, label]) =>
    share(wrong, right) >= TOLD_SHARE ? [`${percent(share(wrong, right))} of its ${name} are ${label}`] : [],
  );
  if (told.length === 0) return [];
  const way =
    by.plant(LAS_GROUND) + by.ground(LAS_GROUND) > 0
      ? "If the file was checked, take its ground: method las_classification."
      : "Look at both; delete what is neither ground nor plant first.";
  return [`The labels contradict those of the file (las_classification): ${told.join(", ")} here. ${way}`];
}

/** What a person must know about labels that are those of the file. */
export async function fileGroundWarnings(
  labels: NativeColumn,
  classes: FileClasses | null,
  ground_classes: readonly number[],
  job: Job,
): Promise<string[]> {
  if (!classes || "constant" in classes) return [];
  const { column } = classes;
  const by = new ByClass(await job.track(() => native.labelsByClass(labels, column)));
  const others = NEAR_GROUND.filter(([value]) => !ground_classes.includes(value) && by.plant(value) > 0);
  if (others.length === 0) return [];
  const named = others.map(([value, name]) => `${by.plant(value)} of class ${value} (${name})`);
  return [
    `Points that may be ground, too, are labelled plant: ${named.join(", ")}. Name their classes in ground_classes if they are.`,
  ];
}

/** Of labels of a file, of which `auto` labels a share differently. */
export function doubtedWarnings(differing: number): string[] {
  if (differing <= DOUBTED) return [];
  return [
    `Method auto labels ${percent(differing)} of the points differently: the file may label a part of its ground only, or low plants as ground. Look at both before you use heights.`,
  ];
}
