import fc from "fast-check";
import { type CloudWish, COLUMN_BITS } from "./source.ts";

/** Commands name sessions, rows and strokes by numbers that count modulo what is there: any part of a list is a list. */
export type RegionWish =
  | {
      readonly kind: "lattice";
      readonly min: readonly number[];
      readonly size: readonly number[];
      readonly invert: boolean;
    }
  | { readonly kind: "rows"; readonly a: number; readonly b: number; readonly invert: boolean }
  | { readonly kind: "all" }
  | { readonly kind: "crossed" }
  | {
      readonly kind: "polygon" | "squares";
      readonly camera: number;
      readonly points: readonly (readonly [number, number])[];
      readonly invert: boolean;
    };
export interface FilterWish {
  readonly slug: number;
  readonly kind: "range" | "from" | "to" | "values";
  readonly a: number;
  readonly b: number;
}
export interface SelectionWish {
  readonly region: RegionWish | null;
  readonly filters: readonly FilterWish[] | null;
}
export interface StrokeWish {
  readonly region: RegionWish;
  readonly to: number;
  readonly from: readonly number[] | null;
  readonly exclude: readonly number[] | null;
  readonly limit: RegionWish | null;
}
export type Command = { readonly on: number; readonly look: number } & (
  | { readonly op: "delete"; readonly region: RegionWish }
  | { readonly op: "reset"; readonly keep: number | null }
  | { readonly op: "label"; readonly slug: number; readonly strokes: readonly StrokeWish[] }
  | { readonly op: "resetLabels"; readonly slug: number; readonly by: "ids" | "count" | "none"; readonly keep: number }
  | { readonly op: "commitLabels" | "summary"; readonly slug: number }
  | { readonly op: "bake"; readonly compact: boolean }
  | { readonly op: "filter"; readonly selection: SelectionWish; readonly rebuild: boolean }
  | { readonly op: "split" | "extract"; readonly selection: SelectionWish }
  | {
      readonly op: "extractByColumn";
      readonly slug: number;
      readonly exclude: readonly number[] | null;
      readonly parent: boolean;
      readonly misses: boolean;
    }
  | { readonly op: "duplicate" | "rebuild" | "close" | "spill" | "restart" | "unknown" }
  | { readonly op: "merge"; readonly others: readonly number[] }
  | { readonly op: "transform"; readonly motion: number; readonly amount: number; readonly pose: boolean }
);
export interface Scenario {
  readonly clouds: readonly CloudWish[];
  readonly commands: readonly Command[];
}

const index = fc.nat({ max: 9999 });
const invert = fc.boolean();
const lattice = (min: number, max: number) => fc.tuple(...Array.from({ length: 3 }, () => fc.integer({ min, max })));
const pixelPair = fc.tuple(fc.integer({ min: 12, max: 26 }), fc.integer({ min: 6, max: 20 }));
const region: fc.Arbitrary<RegionWish> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({ kind: fc.constant("lattice"), min: lattice(-1, 7), size: lattice(0, 6), invert } as const),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant("rows"), a: index, b: index, invert } as const) },
  { weight: 1, arbitrary: fc.constant({ kind: "all" } as const) },
  { weight: 1, arbitrary: fc.constant({ kind: "crossed" } as const) },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constantFrom("polygon", "squares"),
      camera: fc.nat({ max: 4 }),
      points: fc.array(pixelPair, { minLength: 3, maxLength: 6 }),
      invert,
    } as const),
  },
);
const filterWish: fc.Arbitrary<FilterWish> = fc.record({
  slug: index,
  kind: fc.constantFrom("range", "from", "to", "values"),
  a: index,
  b: index,
} as const);
const selection: fc.Arbitrary<SelectionWish> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ region, filters: fc.constant(null) }) },
  {
    weight: 3,
    arbitrary: fc.record({
      region: fc.option(region),
      filters: fc.array(filterWish, { minLength: 1, maxLength: 2 }),
    }),
  },
  { weight: 1, arbitrary: fc.constant({ region: null, filters: null }) },
);
const classes = fc.option(fc.array(fc.nat({ max: 5 }), { maxLength: 3 }));
const stroke: fc.Arbitrary<StrokeWish> = fc.record({
  region,
  to: fc.oneof(
    { weight: 9, arbitrary: fc.nat({ max: 5 }) },
    fc.constantFrom(-1, 255, 256, 70_000, 2 ** 24, 2 ** 24 + 1),
  ),
  from: classes,
  exclude: classes,
  limit: fc.option(region, { freq: 3 }),
});
const common = { on: index, look: index };
const of = <T extends string>(op: T) => ({ ...common, op: fc.constant(op) }) as const;

export const command: fc.Arbitrary<Command> = fc.oneof(
  { weight: 10, arbitrary: fc.record({ ...of("delete"), region }) },
  { weight: 6, arbitrary: fc.record({ ...of("reset"), keep: fc.option(fc.integer({ min: -1, max: 6 })) }) },
  {
    weight: 8,
    arbitrary: fc.record({ ...of("label"), slug: index, strokes: fc.array(stroke, { minLength: 1, maxLength: 3 }) }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      ...of("resetLabels"),
      slug: index,
      by: fc.constantFrom("ids", "count", "none"),
      keep: fc.nat({ max: 5 }),
    } as const),
  },
  { weight: 1, arbitrary: fc.record({ ...of("commitLabels"), slug: index }) },
  { weight: 2, arbitrary: fc.record({ ...of("summary"), slug: index }) },
  { weight: 4, arbitrary: fc.record({ ...of("bake"), compact: fc.boolean() }) },
  { weight: 4, arbitrary: fc.record({ ...of("filter"), selection, rebuild: fc.boolean() }) },
  { weight: 3, arbitrary: fc.record({ ...of("split"), selection }) },
  { weight: 2, arbitrary: fc.record({ ...of("extract"), selection }) },
  {
    weight: 1,
    arbitrary: fc.record({
      ...of("extractByColumn"),
      slug: index,
      exclude: fc.option(fc.array(fc.nat({ max: 3 }), { maxLength: 2 })),
      parent: fc.boolean(),
      misses: fc.boolean(),
    }),
  },
  { weight: 1, arbitrary: fc.record(of("duplicate")) },
  { weight: 2, arbitrary: fc.record(of("rebuild")) },
  { weight: 1, arbitrary: fc.record(of("close")) },
  { weight: 2, arbitrary: fc.record(of("spill")) },
  { weight: 1, arbitrary: fc.record(of("restart")) },
  { weight: 1, arbitrary: fc.record(of("unknown")) },
  { weight: 2, arbitrary: fc.record({ ...of("merge"), others: fc.array(index, { maxLength: 3 }) }) },
  {
    weight: 4,
    arbitrary: fc.record({ ...of("transform"), motion: index, amount: index, pose: fc.boolean() }),
  },
);

const cloudWish: fc.Arbitrary<CloudWish> = fc.record({
  seed: fc.nat(),
  rows: fc.oneof({ weight: 4, arbitrary: fc.integer({ min: 1, max: 40 }) }, fc.integer({ min: 1, max: 300 })),
  columns: fc.nat({ max: 2 ** COLUMN_BITS - 1 }),
  place: fc.nat({ max: 3 }),
});

/** Mostly short sequences, some of 60 commands. */
export const scenario: fc.Arbitrary<Scenario> = fc.record({
  clouds: fc.oneof(
    { weight: 3, arbitrary: fc.array(cloudWish, { minLength: 1, maxLength: 1 }) },
    fc.array(cloudWish, { minLength: 2, maxLength: 3 }),
  ),
  commands: fc.oneof(
    { weight: 8, arbitrary: fc.array(command, { minLength: 1, maxLength: 12, size: "max" }) },
    { weight: 2, arbitrary: fc.array(command, { minLength: 1, maxLength: 30, size: "max" }) },
    { weight: 1, arbitrary: fc.array(command, { minLength: 1, maxLength: 60, size: "max" }) },
  ),
});
