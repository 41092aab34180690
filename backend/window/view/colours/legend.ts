import type { Colouring, Legend, ViewStrings } from "../cloud-view.ts";
import { classColour, cssOf, RAMP_COLOURS } from "./palettes.ts";
import { type ColouredCloud, columnInfos, type PointColours } from "./resolve.ts";

/** Classes that a legend lists. */
const MAX_ENTRIES = 24;

/** What the colours of the clouds mean; null if they mean nothing, as true colours do. */
export function legendOf<C extends ColouredCloud>(
  colours: ReadonlyMap<C, PointColours>,
  colouring: Colouring,
  strings: ViewStrings,
): Legend | null {
  const list = [...colours];
  const classed = list.filter(([, { mode }]) => mode === "class");
  if (classed.length > 0) return classLegend(classed, strings);
  const ramp = list.map(([, how]) => how).find(({ mode }) => mode === "ramp" || mode === "height");
  if (ramp?.mode !== "ramp" && ramp?.mode !== "height") return null;
  const [min, max] = ramp.range;
  const ends = { kind: "ramp", min, max, colours: RAMP_COLOURS } as const;
  if (ramp.mode === "height") return { ...ends, title: strings.height, unit: "m" };
  const { name } = ramp.column;
  const labels = columnInfos(list.map(([cloud]) => cloud));
  const title = colouring.kind === "intensity" ? strings.intensity : labels.find((one) => one.name === name)?.label;
  return { ...ends, title: title ?? name, unit: "" };
}

function classLegend<C extends ColouredCloud>(list: readonly [C, PointColours][], strings: ViewStrings): Legend {
  const values = new Set<number>();
  let ends: readonly [number, number] | null = null;
  let column = "";
  for (const [cloud, how] of list) {
    if (how.mode !== "class") continue;
    column = how.column.name;
    for (const value of observed(cloud, how.column)) values.add(value);
    const [low = 0, high = 0] = [how.column.min[0], how.column.max[0]];
    ends = ends ? [Math.min(ends[0], low), Math.max(ends[1], high)] : [low, high];
  }
  const sorted = [...values].sort((a, b) => a - b);
  const names = strings.classNames[column] ?? {};
  const label = columnInfos(list.map(([cloud]) => cloud)).find(({ name }) => name === column)?.label;
  return {
    kind: "classes",
    title: sorted.length > 0 || !ends ? (label ?? column) : strings.valuesBetween(label ?? column, ...ends),
    entries: sorted.slice(0, MAX_ENTRIES).map((value) => ({
      value,
      label: names[value] ?? strings.classValue(column, value),
      colour: cssOf(classColour(column, value)),
    })),
    more: Math.max(0, sorted.length - MAX_ENTRIES),
  };
}

/** Values that occur, where the service lists them; else all between the smallest and the largest, if they are few. */
function observed(
  { input }: ColouredCloud,
  { name, min, max }: { name: string; min: readonly number[]; max: readonly number[] },
) {
  const known = input.octree.observed_classes?.[name];
  if (known) return known;
  const [low, high] = [min[0] ?? 0, max[0] ?? -1];
  return high - low > 255 ? [] : Array.from({ length: Math.max(0, Math.floor(high - low) + 1) }, (_, i) => low + i);
}
