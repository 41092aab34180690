import { z } from "zod";
import { checkedByService } from "./documented.ts";

/** Roles that one column at most may have. `r255` counts as `r`, and so on. */
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
    index: z.int().min(0).max(16_777_215).describe("0-based source column"),
    role: checkedByService(z.string().trim().toLowerCase().min(1), z.union([ColumnRole, z.string().min(1)])).describe(
      "what the column holds, any case; any other word is an extra under that word",
    ),
    slug: z.string().nullish().default(null).describe("stored name of an extra column"),
    label: z.string().nullish().default(null).describe("display name"),
    categorical: z.boolean().default(false).describe("class column"),
  })
  .meta({ id: "ColumnPlanEntry" });
export type ColumnPlanEntry = z.infer<typeof ColumnPlanEntry>;

/** Layout of a text file as the user wants it: wins over legend, header and detection. */
export const ColumnPlan = z
  .object({
    columns: z.array(ColumnPlanEntry).describe("one entry per source column; columns without one are left out"),
    rgb_is_255: z
      .boolean()
      .default(true)
      .describe("r, g, b hold 0..255; false: 0..1. r255, g255, b255 always hold 0..255"),
  })
  .superRefine(({ columns }, context) => {
    for (const message of planConflicts(columns)) context.addIssue({ code: "custom", path: ["columns"], message });
  })
  .meta({ id: "ColumnPlan", description: "layout of a text file: wins over legend, header and detection" });
export type ColumnPlan = z.infer<typeof ColumnPlan>;

/** What two entries of a plan cannot both claim: a singleton role, or the same source column. One sentence each. */
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
