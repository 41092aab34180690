import type { z } from "zod";

/** Documented form of a schema that accepts more than is legal. */
export interface Legal {
  readonly schema: z.ZodType;
  /** True: the field is required, although its schema accepts its absence. */
  readonly required: boolean;
}

const notes = new WeakMap<object, Legal>();

/** Note of a schema, or of the schema that it was derived from. backend/http/openapi/schemas.ts reads it. */
export function legalOf(schema: z.core.$ZodType): Legal | undefined {
  const { parent } = schema._zod;
  return notes.get(schema) ?? (parent && legalOf(parent));
}

/**
 * Marks a value that the service checks itself, so that an illegal one is answered with a sentence (400) instead of a
 * list of schema issues (422). `accepted` is the schema that requests must pass; `legal` is the type that clients and
 * the OpenAPI document show. Pass a new instance as `accepted`: the note is attached to the instance.
 */
export function checkedByService<A extends z.ZodType, L extends z.ZodType>(
  accepted: A,
  legal: L,
): z.ZodType<z.output<A>, z.input<L>> {
  notes.set(accepted, { schema: legal, required: false });
  return accepted as unknown as z.ZodType<z.output<A>, z.input<L>>;
}

/** Like checkedByService, for a required field: the service itself reports that it is missing. */
export function requiredByService<A extends z.ZodType, L extends z.ZodType>(
  accepted: A,
  legal: L,
): z.ZodType<z.output<A> | undefined, z.input<L>> {
  const absent = accepted.optional();
  notes.set(absent, { schema: legal, required: true });
  return absent as unknown as z.ZodType<z.output<A> | undefined, z.input<L>>;
}
