import { z } from "zod";

export const LEAF_ANGLE_NAMES = [
  "spherical",
  "planophile",
  "erectophile",
  "plagiophile",
  "extremophile",
  "uniform",
] as const;

export const ProjectionValue = z
  .object({
    kind: z.enum(["constant", "dewit", "beta"]).describe("which of the following fields are used"),
    value: z.number().nullish().default(null).describe("constant: G, above 0 and at most 1; otherwise: 400"),
    dewit: z.enum(LEAF_ANGLE_NAMES).nullish().default(null).describe("dewit: distribution of the leaf inclinations"),
    beta_mu: z.number().nullish().default(null).describe("beta: exponent of 1 - 2 t / pi plus one, t the inclination"),
    beta_nu: z.number().nullish().default(null).describe("beta: exponent of 2 t / pi plus one; both above 0"),
  })
  .meta({
    id: "ProjectionValue",
    description:
      "leaf projection function G, a constant or that of a distribution of leaf inclinations, averaged over the beams that reach the grid",
  });
export type ProjectionValue = z.infer<typeof ProjectionValue>;

export const ProjectionSpec = z
  .object({
    spatial: z.enum(["constant", "profile"]).describe("one G for all voxels, or one for each layer"),
    spec: ProjectionValue.nullish().default(null).describe("constant: the value"),
    profile: z
      .array(ProjectionValue)
      .nullish()
      .default(null)
      .describe("profile: (nz) the value of each layer, from below; any other length: 400"),
  })
  .meta({ id: "ProjectionSpec", description: "leaf projection function of the grid or of its layers" });
export type ProjectionSpec = z.infer<typeof ProjectionSpec>;
