import { editable, type ModelCloud, rint } from "./cloud.ts";
import { inRegion, type ModelRegion } from "./region.ts";

export interface ModelFilter {
  readonly slug: string;
  readonly min?: number | null;
  readonly max?: number | null;
  readonly values?: readonly number[] | null;
}
export interface ModelSelection {
  readonly region: ModelRegion | null;
  readonly scalar_filters: readonly ModelFilter[] | null;
}

const CLOCKS = ["timestamp", "gps-time"];

/** The values a filter looks at; undefined = no such column. */
export function filterColumn(cloud: ModelCloud, slug: string): readonly number[] | undefined {
  if (CLOCKS.includes(slug)) return cloud.timestamps ?? undefined;
  return cloud.extras.get(slug);
}

function passes(filter: ModelFilter, value: number): boolean {
  if (filter.values && filter.values.length > 0) return filter.values.includes(rint(value));
  return value >= (filter.min ?? Number.NEGATIVE_INFINITY) && value <= (filter.max ?? Number.POSITIVE_INFINITY);
}

/** Surviving hits inside the region and through every filter. */
export function selected(cloud: ModelCloud, { region, scalar_filters }: ModelSelection): number[] {
  return editable(cloud).filter((row) => {
    const point = cloud.positions[row];
    if (region && point && !inRegion(region, point)) return false;
    return (scalar_filters ?? []).every((filter) => {
      const value = filterColumn(cloud, filter.slug)?.[row];
      return value !== undefined && passes(filter, value);
    });
  });
}
