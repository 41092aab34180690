import { type JsonSchema, nameOf, type OpenApi } from "../app/openapi.ts";

type Numbers = JsonSchema & {
  readonly default?: unknown;
  readonly const?: unknown;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: number;
  readonly exclusiveMaximum?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
};

const resolved = (schema: JsonSchema, document: OpenApi): Numbers =>
  schema.$ref === undefined ? schema : resolved(document.components.schemas[nameOf(schema)] ?? {}, document);

/** The schema at the end of a path of keys; alternatives are searched too. */
export function schemaAt(schema: JsonSchema, place: readonly (string | number)[], document: OpenApi): Numbers | null {
  const here = resolved(schema, document);
  const [key, ...rest] = place;
  if (key === undefined) return here;
  const own = typeof key === "number" ? (here.prefixItems?.[key] ?? here.items) : here.properties?.[key];
  const found = own && schemaAt(own, rest, document);
  if (found) return found;
  for (const part of [here.anyOf, here.oneOf, here.allOf].flatMap((list) => list ?? [])) {
    const inner = schemaAt(part, place, document);
    if (inner) return inner;
  }
  return null;
}

/** Whether a request may leave the place out. */
export function isOptional(schema: JsonSchema, place: readonly (string | number)[], document: OpenApi): boolean {
  const key = place.at(-1);
  if (typeof key === "number") return false;
  const holder = schemaAt(schema, place.slice(0, -1), document);
  const parts = holder ? [holder, ...[holder.anyOf, holder.oneOf, holder.allOf].flatMap((list) => list ?? [])] : [];
  return !parts.some((part) => resolved(part, document).required?.includes(String(key)));
}

/** Values that a schema takes, as different as can be; `now` is what the request has there. */
export function secondValues(schema: JsonSchema, document: OpenApi, now: unknown, depth = 0): unknown[] {
  const one = resolved(schema, document);
  if (one.const !== undefined) return [one.const];
  if (one.enum) return [...one.enum];
  const parts = [one.anyOf, one.oneOf, one.allOf].flatMap((list) => list ?? []);
  if (parts.length > 0)
    return parts.flatMap((part) => secondValues({ ...part, ...defaultOf(one) }, document, now, depth));
  if (Array.isArray(one.type))
    return one.type.flatMap((type: string) => secondValues({ ...one, type }, document, now, depth));
  if (one.type === "boolean") return [true, false];
  if (one.type === "number" || one.type === "integer") return numbersOf(one, now);
  if (one.type === "string") return ["x", "1 2 3", "a_b"];
  if (one.type === "array" && depth < 3) return listsOf(one, document, depth);
  if (one.type === "object" && depth < 3) return [objectOf(one, document, depth)];
  return [];
}

const defaultOf = (schema: Numbers) => (schema.default === undefined ? {} : { default: schema.default });

function numbersOf(schema: Numbers, now: unknown): number[] {
  const low = schema.minimum ?? (schema.exclusiveMinimum === undefined ? -1e6 : schema.exclusiveMinimum + 1e-3);
  const high = schema.maximum ?? (schema.exclusiveMaximum === undefined ? 1e6 : schema.exclusiveMaximum - 1e-3);
  const start = [now, schema.default].find((value) => typeof value === "number") ?? 1;
  const base = Number(start) || 1;
  const tried = [base * 2, base / 2, base * 10, base / 10, base + 1, base - 1, 0, 1, 2, 0.3, 30, low, high];
  const fitting = tried.map((value) => (schema.type === "integer" ? Math.round(value) : value));
  return [...new Set(fitting.filter((value) => value >= low && value <= high && value !== now))];
}

function listsOf(schema: Numbers, document: OpenApi, depth: number): unknown[][] {
  if (schema.prefixItems) {
    const each = schema.prefixItems.map((item) => secondValues(item, document, undefined, depth + 1));
    return [0, 1].map((k) => each.map((values, i) => values[(k + i) % Math.max(1, values.length)]));
  }
  if (!schema.items) return [];
  const values = secondValues(schema.items, document, undefined, depth + 1);
  const lengths = [...new Set([Math.max(1, schema.minItems ?? 1), Math.min(3, schema.maxItems ?? 3)])];
  return lengths.flatMap((n) =>
    [0, 1].map((k) => Array.from({ length: n }, (_, i) => values[(i + k) % values.length])),
  );
}

function objectOf(schema: Numbers, document: OpenApi, depth: number): Record<string, unknown> {
  const fields = Object.entries(schema.properties ?? {}).filter(([name]) => schema.required?.includes(name));
  return Object.fromEntries(
    fields.map(([name, field]) => [name, secondValues(field, document, undefined, depth + 1)[0]]),
  );
}
