import { AppError } from "../../../shared/errors.ts";

/** How commands find the ground: a cloth and smrf need parameters, which they do not take. */
const GROUND_FILTERS = ["auto", "las_classification"] as const;
export type GroundChoice = (typeof GROUND_FILTERS)[number];

/** Errors: invalid_argument. */
export function parseGround(text: string): GroundChoice {
  const method = GROUND_FILTERS.find((name) => name === text.toLowerCase());
  if (!method) throw new AppError("invalid_argument", `--ground "${text}" is none of ${GROUND_FILTERS.join(", ")}`);
  return method;
}
