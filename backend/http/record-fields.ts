import { z } from "zod";
import { AppError } from "../../shared/errors.ts";
import type { RecordField } from "../native/core/request-text.ts";

/** The part of JSON Schema that fields of records have. */
interface Json {
  readonly type?: string;
  readonly anyOf?: readonly Json[];
  readonly items?: Json;
  readonly prefixItems?: readonly Json[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: number;
  readonly exclusiveMaximum?: number;
  readonly default?: unknown;
}

/**
 * The fields of a schema of records as native code checks them. Errors: internal for a field that is no number, [x, y, z] or
 * list of numbers, or has a rule that native code does not know.
 */
export function recordFields(schema: z.ZodObject): RecordField[] {
  // With a registry of its own, no component id of the contract moves a part into $defs.
  const { properties, required = [] } = z.toJSONSchema(schema, { io: "input", metadata: z.registry() }) as {
    properties: Record<string, Json>;
    required?: readonly string[];
  };
  return Object.entries(properties).map(([name, given]) => {
    const made = fieldOf(name, given);
    return required.includes(name) ? made : { ...made, fallback: fallbackOf(made, given.default) };
  });
}

function fieldOf(name: string, field: Json): RecordField {
  const [value, none] = field.anyOf ?? [field];
  const nullable = none?.type === "null";
  if (!value || (field.anyOf && (!nullable || field.anyOf.length > 2))) throw unknownRule(name);
  if (value.type !== "array") return { name, kind: "number", nullable, ...ruleOf(name, value) };
  const { items, prefixItems } = value;
  const xyz = prefixItems?.length === 3 && prefixItems.every((one) => isPlainNumber(one));
  if (nullable || (!xyz && !items)) throw unknownRule(name);
  if (xyz) return { name, kind: "point", nullable, ...ruleOf(name, { type: "number" }) };
  return { name, kind: "numbers", nullable, ...ruleOf(name, items as Json) };
}

function ruleOf(name: string, value: Json): Pick<RecordField, "min" | "max" | "above_min" | "whole"> {
  const { type, minimum, maximum, exclusiveMinimum, exclusiveMaximum } = value;
  if ((type !== "number" && type !== "integer") || exclusiveMaximum !== undefined) throw unknownRule(name);
  const whole = type === "integer";
  const beyond = (limit: number | undefined) =>
    limit === undefined || (whole && Math.abs(limit) === Number.MAX_SAFE_INTEGER);
  return {
    min: exclusiveMinimum ?? (beyond(minimum) ? null : (minimum as number)),
    max: beyond(maximum) ? null : (maximum as number),
    above_min: exclusiveMinimum !== undefined,
    whole,
  };
}

const isPlainNumber = (one: Json): boolean => one.type === "number" && one.minimum === undefined;

function fallbackOf({ name, kind }: RecordField, value: unknown): number | null {
  if (kind === "numbers" && Array.isArray(value) && value.length === 0) return null;
  if (kind !== "number" || (value !== null && typeof value !== "number")) throw unknownRule(name);
  return value;
}

const unknownRule = (name: string) =>
  new AppError("internal", `records with the field ${name} cannot be read as columns`);
