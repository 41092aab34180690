import { z } from "zod";
import { MAX_LABEL_CHARS, MAX_PLAN_COLUMNS, MAX_SLUG_CHARS } from "../limits.ts";
import { checkedByService } from "./documented.ts";

/** Roles that at most one column may have. `r255` counts as `r`, `g255` as `g`, `b255` as `b`. */
export const SINGLETON_ROLES = [
  "x",
  "y",
  "z",
  "r",
  "g",
  "b",
  "intensity",
  "reflectance",
  "timestamp",
  "target_index",
  "target_count",
  "row_index",
  "column_index",
  "is_miss",
  "origin_x",
  "origin_y",
  "origin_z",
] as const;

/** Every role of the column plan. */
export const ColumnRole = z.enum([...SINGLETON_ROLES, "r255", "g255", "b255", "extra", "skip"]);

export const ColumnPlanEntry = z
  .object({
    index: z.int().min(0).max(16_777_215).describe("index of the source column, from 0"),
    role: checkedByService(
      z.string().trim().toLowerCase().min(1).max(MAX_SLUG_CHARS),
      z.union([ColumnRole, z.string().min(1).max(MAX_SLUG_CHARS)]),
    ).describe("meaning of the column, in any case; an unknown word makes an extra scalar column with that name"),
    slug: z
      .string()
      .max(MAX_SLUG_CHARS)
      .nullish()
      .default(null)
      .describe("stored name of an extra column; null = derived from its name"),
    label: z.string().max(MAX_LABEL_CHARS).nullish().default(null).describe("display name"),
    categorical: z.boolean().default(false).describe("true: the column holds class numbers"),
  })
  .meta({ id: "ColumnPlanEntry" });
export type ColumnPlanEntry = z.infer<typeof ColumnPlanEntry>;

/** Column layout of a text file as given by the user; takes precedence over legend, header and detection. */
export const ColumnPlan = z
  .object({
    columns: z
      .array(ColumnPlanEntry)
      .max(MAX_PLAN_COLUMNS)
      .describe("one entry per source column; columns without an entry are not read"),
    rgb_is_255: z
      .boolean()
      .default(true)
      .describe("true: r, g, b range over 0..255; false: over 0..1. r255, g255, b255 always range over 0..255"),
  })
  .superRefine(({ columns }, context) => {
    for (const message of planConflicts(columns)) context.addIssue({ code: "custom", path: ["columns"], message });
  })
  .meta({
    id: "ColumnPlan",
    description: "column layout of a text file; takes precedence over legend, header and detection",
  });
export type ColumnPlan = z.infer<typeof ColumnPlan>;

/** One sentence per conflict of a plan: two entries for a source column, or two columns with a singleton role. */
export function planConflicts(columns: readonly Pick<ColumnPlanEntry, "index" | "role">[]): string[] {
  const conflicts: string[] = [];
  const roleOwner = new Map<string, number>();
  const indices = new Set<number>();
  for (const { index, role } of columns) {
    if (indices.has(index)) conflicts.push(`column ${index} has two entries; keep one`);
    indices.add(index);
    const single = role
      .trim()
      .toLowerCase()
      .replace(/^([rgb])255$/, "$1");
    if (!(SINGLETON_ROLES as readonly string[]).includes(single)) continue;
    const owner = roleOwner.get(single);
    if (owner === undefined) roleOwner.set(single, index);
    else conflicts.push(`role "${single}" is given to columns ${owner} and ${index}; only one column can have it`);
  }
  return conflicts;
}
