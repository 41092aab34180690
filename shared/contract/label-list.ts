import { z } from "zod";

const isLabel = (value: unknown) => value === 1 || value === 2;

/** Checks labels in one loop instead of one schema per label. Services pass a typed array, JSON holds a list. */
export const labelList = (meaning: string) =>
  z
    .custom<ArrayLike<number>>(
      (value) => value instanceof Uint8Array || (Array.isArray(value) && value.every(isLabel)),
      { message: "must be a list of 1 and 2" },
    )
    .meta({ type: "array", items: { type: "integer", enum: [1, 2] } })
    .describe(`one label per point, in input order: ${meaning}; empty on failure`);

const isInstance = (value: unknown) => Number.isInteger(value) && Number(value) >= 0;

/** The same for instance numbers. */
export const instanceList = (meaning: string) =>
  z
    .custom<ArrayLike<number>>(
      (value) => value instanceof Uint32Array || (Array.isArray(value) && value.every(isInstance)),
      { message: "must be a list of whole numbers from 0" },
    )
    .meta({ type: "array", items: { type: "integer", minimum: 0 } })
    .describe(`one number per point, in input order: ${meaning}; empty on failure`);
