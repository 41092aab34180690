import { z } from "zod";

export const ScanColumnName = z
  .string()
  .min(1)
  .max(200)
  .nullish()
  .default(null)
  .describe(
    "extra column whose values tell scans apart, as las_point_source_id of tripods whose files number their places; null: scan_index, else a column with a name that other programs give it (Original cloud index, scan_id, scan_number, scan_no, scan_nr, scan_position, scan_pos; any case, with or without signs between words and scalar_ before them); flight lines only if they are asked for",
  );

export const ScanOffset = z
  .object({
    scan_a: z.number().describe("number of a scan"),
    scan_b: z.number().describe("number of a scan, above scan_a"),
    n_stems: z.int().describe("stems that both scans show on 80 degrees and more at breast height"),
    x_m: z.number().describe("median offset of the stems in scan_b against scan_a along x, metres"),
    y_m: z.number().describe("the same along y, metres"),
    spread_m: z.number().describe("1.48 times the median distance of the offsets from these, metres"),
  })
  .meta({ id: "ScanOffset", description: "where stems stand in one scan against another" });

export const ViewFit = z
  .object({
    n_stems: z.int().describe("stems of which two or more views have 15 points at breast height"),
    spread_m: z
      .number()
      .describe(
        "how far views lie from where their mean has the stems, root mean square along x and along y, metres; before they were moved",
      ),
    rest_m: z
      .number()
      .describe(
        "by how much places of one stem differ besides, 1.48 times the median, metres; of moved views if aligned",
      ),
    aligned: z
      .boolean()
      .describe(
        "true: spread_m is above most_view_spread_m and above what noise explains, stems that took no part in a fit of the drift have it, too, and trees were measured with their points moved and turned by the drift of their scan at their time, level; positions are those of the mean of all views",
      ),
  })
  .meta({ id: "ViewFit", description: "how well views of the stems fit each other" });

export type ViewFit = z.infer<typeof ViewFit>;

export const ScanLayers = z
  .object({
    n_stems: z.int().describe("stems that are seen twice at breast height, all by one motion"),
    n_seen_twice: z.int().describe("stems that are seen twice, by whatever"),
    x_m: z
      .number()
      .describe(
        "from one layer to the other along x, in the middle of these stems, metres; which one lies right is unknown",
      ),
    y_m: z.number().describe("the same along y, metres"),
    turn_deg: z
      .number()
      .describe("turn of one layer against the other, degrees counterclockwise; 0 unless stems need it"),
    joined: z
      .boolean()
      .describe(
        "true: trees were measured with the layers of their stems moved together, each by half of the way; false: align_scans is false, or more than two scans do not fit",
      ),
    n_joined: z.int().describe("trees that were measured so"),
  })
  .meta({ id: "ScanLayers", description: "how scans lie beside others in a cloud, as stems show that are seen twice" });

export type ScanLayers = z.infer<typeof ScanLayers>;
