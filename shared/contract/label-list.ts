import { z } from "zod";

const isLabel = (value: unknown) => value === 1 || value === 2;

/** One loop instead of a schema per label. A service may hand over a typed array, JSON a list. */
export const labelList = (meaning: string) =>
  z
    .custom<ArrayLike<number>>(
      (value) => value instanceof Uint8Array || (Array.isArray(value) && value.every(isLabel)),
      { message: "must be a list of 1 and 2" },
    )
    .meta({ type: "array", items: { type: "integer", enum: [1, 2] } })
    .describe(`per point, input order: ${meaning}; empty on failure`);
