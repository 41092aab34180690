import { z } from "zod";
import { bulkRecords } from "./bulk-list.ts";
import { ErrorText, FailureCode, Success, Warnings } from "./fields.ts";
import { QsmCylinder, QsmShoot } from "./qsm-records.ts";

/** A model that the client sends back, as build and import return it. */
export const QsmFields = {
  cylinders: bulkRecords(QsmCylinder).describe("cylinders of the model, as build and import return them"),
  shoots: bulkRecords(QsmShoot).describe(
    "shoots of the model; if none lists child_shoot_ids, these follow from parent_shoot_id",
  ),
} as const;

export const PhyllotaxisRequest = z.object(QsmFields).meta({ id: "PhyllotaxisRequest" });
export type PhyllotaxisRequest = z.infer<typeof PhyllotaxisRequest>;

export const PHYLLOTAXIS_PATTERNS = ["opposite", "spiral", "decussate", "alternate"] as const;

export const PhyllotaxisCandidate = z
  .object({
    angle_deg: z.number().describe("divergence angle, degrees"),
    score: z
      .number()
      .describe(
        "0..1: 1 - 1 / (geometric mean of how many times likelier each step of azimuth is than with random azimuths)",
      ),
    log_support: z.number().describe("natural log of the likelihood of all steps, relative to random azimuths"),
  })
  .meta({ id: "PhyllotaxisCandidate", description: "how well a divergence angle fits" });

export const PhyllotaxisResponse = z
  .object({
    success: Success,
    angle_deg: z
      .number()
      .describe("divergence angle, degrees: 180, 137.5, 144, 150 or 90; 137.5 if nothing was measured"),
    pattern: z
      .enum(PHYLLOTAXIS_PATTERNS)
      .describe("opposite (180), spiral (137.5, 144, 150), decussate (90), alternate (any other angle)"),
    leaves_per_node: z.int().describe("2 for opposite and decussate, else 1"),
    confidence: z
      .number()
      .describe(
        "score of angle_deg, 0..1; 0 = nothing was measured. Too high where few shoots were: see the next field",
      ),
    n_parents_sampled: z.int().describe("shoots with at least two child shoots whose azimuth is known"),
    candidates: z.array(PhyllotaxisCandidate).describe("every angle that was compared"),
    warnings: Warnings.optional(),
    error: ErrorText,
    code: FailureCode,
  })
  .meta({ id: "PhyllotaxisResponse", description: "divergence angle of the leaves, from the azimuths of branches" });
export type PhyllotaxisResponse = z.infer<typeof PhyllotaxisResponse>;
