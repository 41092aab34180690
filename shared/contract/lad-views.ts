import { z } from "zod";

/** Leaf area from what several scanners see of the same places. */
export const CaptureRecapture = z
  .object({
    range_noise_m: z
      .number()
      .min(0)
      .max(1)
      .default(0)
      .describe(
        "standard deviation of the ranges, metres: a place counts as seen up to three of them behind what hides it; more than the distance between two beams: an error unless G is given",
      ),
  })
  .meta({ id: "CaptureRecapture", description: "leaf area from what several scanners see of the same places" });
export type CaptureRecapture = z.infer<typeof CaptureRecapture>;

const orNull = (what: string) => z.number().nullable().describe(what);

export const CaptureRecaptureArea = z
  .object({
    leaf_area: orNull(
      "one-sided leaf area in the grid with what no scanner sees, square metres; null if no place is seen by two scanners",
    ),
    leaf_area_ci_lower: orNull(
      "lower end of its interval: how much the scanners differ when each is left out, and gtheta_common_error, without the error of what counts as seen, so that it holds the truth less often than 95 %, square metres; null with fewer than three scans, an agreement below 0.9, a spacing of more than half of element_width, or more than a tenth of leaf_area that no scanner sees",
    ),
    leaf_area_ci_upper: orNull("upper end, square metres; null as the lower"),
    seen_leaf_area: z.number().describe("leaf area that at least one scanner sees, square metres"),
    seen_by: z.array(z.number()).describe("(scans) leaf area that exactly 1, 2, .. scanners see, square metres"),
    agreement: orNull(
      "how often another scanner that sees a place of a hit has a hit there itself, within two distances of the beams and three times range_noise_m, over how often a beam beside that hit has: about 1 or more where scans fit; below 0.9 scans lie beside each other, or wind moved leaves between them, and leaf_area is wrong; null without such places",
    ),
    hit_count: z.int().describe("number of hits on leaves in the grid"),
    spacing: z
      .number()
      .describe(
        "mean distance of these hits to the next beam, metres: above half of element_width leaf_area reads low; 0 without hits",
      ),
    gtheta: z.array(z.number()).describe("G used: one value, or (nz) one per layer from below"),
  })
  .meta({ id: "CaptureRecaptureArea", description: "leaf area of the grid by the scanners that see it" });
export type CaptureRecaptureArea = z.infer<typeof CaptureRecaptureArea>;
