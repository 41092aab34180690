import type { z } from "zod";
import { legalOf } from "../../../shared/contract/documented.ts";

/** Label and explanation of a field, one line each. */
export type FieldText = readonly [label: string, explanation: string];

export type FieldKind = "number" | "integer" | "flag" | "choice" | "text" | "integers" | "names";

/** A field of a form. */
export interface Field {
  readonly name: string;
  readonly kind: FieldKind;
  readonly label: string;
  readonly explanation: string;
  /** The contract's default; null = the service derives it, undefined = must be given. */
  readonly preset: unknown;
  readonly choices: readonly string[];
}

interface Shape {
  readonly kind: FieldKind;
  readonly preset: unknown;
  readonly choices: readonly string[];
}

/** The form field of a contract field: its kind, choices and default are those of the schema. */
export function fieldOf(name: string, schema: z.ZodType, [label, explanation]: FieldText): Field {
  return { name, label, explanation, ...shapeOf(name, schema) };
}

function shapeOf(name: string, schema: z.ZodType): Shape {
  let current = schema as unknown as z.core.$ZodTypes;
  let preset: unknown;
  for (;;) {
    const legal = legalOf(current);
    const { def } = current._zod;
    if (legal) current = legal.schema as unknown as z.core.$ZodTypes;
    else if (def.type === "default") {
      preset = def.defaultValue;
      current = def.innerType as z.core.$ZodTypes;
    } else if (def.type === "nullable" || def.type === "optional") current = def.innerType as z.core.$ZodTypes;
    else if (def.type === "pipe") current = def.in as z.core.$ZodTypes;
    else break;
  }
  const { def } = current._zod;
  switch (def.type) {
    case "number":
      return { kind: isInteger(current) ? "integer" : "number", preset, choices: [] };
    case "boolean":
      return { kind: "flag", preset, choices: [] };
    case "enum":
      return { kind: "choice", preset, choices: Object.values(def.entries).map(String) };
    case "string":
      return { kind: "text", preset, choices: [] };
    case "array":
      return { kind: def.element._zod.def.type === "number" ? "integers" : "names", preset, choices: [] };
    default:
      throw new Error(`${name}: no form field shows a ${def.type}`);
  }
}

function isInteger(schema: z.core.$ZodTypes): boolean {
  const { def } = schema._zod;
  const checks = [schema, ...((def as { checks?: readonly z.core.$ZodCheck[] }).checks ?? [])];
  return checks.some((check) => {
    const { format } = check._zod.def as { format?: string };
    return format === "safeint" || format === "int32" || format === "uint32";
  });
}

/** A text that is no value of its field. */
export class FieldError extends Error {
  override readonly name = "FieldError";
  constructor(
    readonly field: string,
    message: string,
  ) {
    super(message);
  }
}

export interface FieldWords {
  readonly noNumber: (text: string) => string;
  readonly noInteger: (text: string) => string;
  readonly missing: string;
}

/** The value of what the user typed. Errors: FieldError with a sentence. */
export function parsedValue(field: Field, text: string, words: FieldWords): unknown {
  const trimmed = text.trim();
  if (trimmed === "") {
    if (field.preset === undefined) throw new FieldError(field.name, words.missing);
    return field.kind === "text" && field.preset !== null ? "" : null;
  }
  switch (field.kind) {
    case "number":
      return numberOf(field, trimmed, words.noNumber(trimmed));
    case "integer":
      return integerOf(field, trimmed, words.noInteger(trimmed));
    case "integers":
      return trimmed.split(/[\s,;]+/).map((part) => integerOf(field, part, words.noInteger(part)));
    case "names":
      return trimmed.split(/[\s,;]+/);
    default:
      return trimmed;
  }
}

function numberOf({ name }: Field, text: string, sentence: string): number {
  const isGrouped = /^[+-]?[1-9]\d{0,2}(,\d{3})+$/.test(text); // 1,000 means 1 to some and 1000 to others
  const value = isGrouped ? Number.NaN : Number(text.replace(",", "."));
  if (!Number.isFinite(value)) throw new FieldError(name, sentence);
  return value;
}
function integerOf(field: Field, text: string, sentence: string): number {
  const value = numberOf(field, text, sentence);
  if (!Number.isInteger(value)) throw new FieldError(field.name, sentence);
  return value;
}
