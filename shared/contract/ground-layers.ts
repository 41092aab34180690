import { z } from "zod";

export const GroundLayers = z
  .object({
    z_m: z
      .number()
      .describe(
        "height of the upper layer above the lower one, metres: median over the places that show both; which one lies right is unknown",
      ),
    spread_m: z.number().describe("1.48 times the median distance of the heights in single places from it, metres"),
    share: z
      .number()
      .describe("how much more of the places show something at this height than just above and below it, 0 to 1"),
    n_places: z.int().describe("squares of cell_m with points that were looked at, of clouds of many points a part"),
    n_both: z.int().describe("of these, those with both layers"),
    cell_m: z.number().describe("side of a place, metres"),
    scans_by: z
      .string()
      .nullable()
      .describe("column that tells scans, or flight lines, apart; null: the points have neither"),
    by_flight_lines: z.boolean().describe("true: scans_by has numbers of flight lines, for lack of numbers of scans"),
    upper_scans: z
      .array(z.number())
      .describe("values of scans_by of which four fifths of 100 and more points in the layers lie in the upper one"),
    lower_scans: z.array(z.number()).describe("the same of the lower one"),
  })
  .meta({
    id: "GroundLayers",
    description:
      "the ground, seen once more at another height, as scans leave it that were put together at wrong heights: 4.5 cm to 100 m above, depending on the density",
  });

export type GroundLayers = z.infer<typeof GroundLayers>;
