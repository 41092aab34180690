import { type JsonSchema, nameOf, type OpenApi } from "../app/openapi.ts";

/** Where a value stands in a request: keys of objects and places of lists. */
export type Place = readonly (string | number)[];

const MOST_DEEP = 4;

/** Every field of a schema, in first elements of lists too; of alternatives, those of each. */
export function placesOf(schema: JsonSchema, document: OpenApi, before: Place = []): Place[] {
  if (before.length > MOST_DEEP) return [];
  if (schema.$ref !== undefined) {
    const target = document.components.schemas[nameOf(schema)];
    return target ? placesOf(target, document, before) : [];
  }
  const fields = Object.entries(schema.properties ?? {}).flatMap(([name, field]) => [
    [...before, name],
    ...placesOf(field, document, [...before, name]),
  ]);
  const parts = [schema.anyOf, schema.oneOf, schema.allOf].flatMap((list) => list ?? []);
  const others = parts.flatMap((part) => placesOf(part, document, before));
  const items = schema.items ? [[...before, 0], ...placesOf(schema.items, document, [...before, 0])] : [];
  const known = new Map([...fields, ...others, ...items].map((place) => [JSON.stringify(place), place]));
  return [...known.values()];
}

/** `request` with `value` at a place; objects and lists that lead there are made. */
export function withValue(request: unknown, [key, ...rest]: Place, value: unknown): unknown {
  if (key === undefined) return value;
  if (typeof key === "number") {
    const list = Array.isArray(request) ? [...(request as unknown[])] : [];
    list[key] = withValue(list[key], rest, value);
    return list;
  }
  const object = typeof request === "object" && request !== null && !Array.isArray(request) ? request : {};
  return { ...object, [key]: withValue((object as Record<string, unknown>)[key], rest, value) };
}

/** JSON texts of values at and beyond the edges of what fields take. */
export const EDGE_VALUES: readonly string[] = [
  "null",
  "true",
  '"x"',
  '""',
  "-1",
  "0",
  "-0.0",
  "0.5",
  "1",
  "3",
  "1e308",
  "-1e308",
  "1e400",
  "1e-300",
  "2147483648",
  "9007199254740993",
  "[]",
  "{}",
  "[null]",
  "[[]]",
  "[0, 0, 0]",
  '{"a": {"b": [1]}}',
  '"../../etc/passwd"',
  '"/dev/zero"',
  '"\\u0000"',
  `"${"é".repeat(5000)}"`,
];
