import type { z } from "zod";

/** What a schema is documented as, where it lets more through than is legal. */
export interface Legal {
  readonly schema: z.ZodType;
  /** The field must be there, although its schema lets it be absent. */
  readonly required: boolean;
}

const notes = new WeakMap<object, Legal>();

/** The note of a schema or of one that it was described from. backend/http/openapi/document.ts reads it. */
export function legalOf(schema: z.core.$ZodType): Legal | undefined {
  const { parent } = schema._zod;
  return notes.get(schema) ?? (parent && legalOf(parent));
}

/**
 * A value that the service checks itself, so that it can refuse it with a sentence of its own (400) instead of a list
 * of schema issues (422). `accepted` is what the schema lets through; `legal` is the type clients see and what the
 * OpenAPI document shows. `accepted` must be made for this call: the note is kept with the instance.
 */
export function checkedByService<A extends z.ZodType, L extends z.ZodType>(
  accepted: A,
  legal: L,
): z.ZodType<z.output<A>, z.input<L>> {
  notes.set(accepted, { schema: legal, required: false });
  return accepted as unknown as z.ZodType<z.output<A>, z.input<L>>;
}

/** The same for a field that must be there: the service says so itself when it is absent. */
export function requiredByService<A extends z.ZodType, L extends z.ZodType>(
  accepted: A,
  legal: L,
): z.ZodType<z.output<A> | undefined, z.input<L>> {
  const absent = accepted.optional();
  notes.set(absent, { schema: legal, required: true });
  return absent as unknown as z.ZodType<z.output<A> | undefined, z.input<L>>;
}
