import { z } from "zod";

const metres = (meaning: string) => z.number().describe(`${meaning}, metres`);
const length = (meaning: string) => z.number().positive().describe(`${meaning}, metres, > 0`);
const atLeast0 = (meaning: string) => z.number().nonnegative().describe(meaning);
const pair = z.tuple([z.number(), z.number()]);
const steepness = z.number().min(-5).max(5);

/**
 * What method auto measures in a cloud before it labels points. A part of the cloud that is labelled with the frame of the
 * whole gets the labels that it has there, but for its edges.
 */
export const GroundFrame = z
  .strictObject({
    origin: pair.describe("x and y where cells begin, metres, in the coordinates of the points"),
    z_origin: metres("height of the plane that heights are measured from, at the origin"),
    slope: z
      .tuple([steepness, steepness])
      .describe("slope of this plane along x and y, metres per metre, at most 5 in size"),
    lowest_z: metres("z of the lowest point that is no low outlier"),
    point_count: z.number().min(1).describe("number of points"),
    point_spacing_m: length("point spacing"),
    outlier_cell_m: length("edge of the cells in which low outliers are looked for"),
    outlier_layer_m: length("height above the lowest point of such a cell within which other points confirm it"),
    cell_size: length("edge of the cells of method auto"),
    roughness_m: atLeast0("auto: deviation of the ground of cells from that of their neighbours, metres, >= 0"),
    typical_returns: atLeast0(
      "auto: returns in the lowest metre of a cell, >= 0; 0 = too few to tell ground from plants",
    ),
    search_noise_m: atLeast0("auto: noise of the ground that the search allows for, metres, >= 0"),
    noise_m: atLeast0("auto: standard deviation of the returns of bare ground, metres, >= 0; 0 = not measured"),
    middle_m: metres("auto: height of the middle of these returns above the surface through the lowest points"),
  })
  .meta({ id: "GroundFrame" });
export type GroundFrame = z.infer<typeof GroundFrame>;
