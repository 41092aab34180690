import { z } from "zod";
import { legalOf } from "../../../shared/contract/documented.ts";
import { AppError } from "../../../shared/errors.ts";

/*
 * JSON Schemas of the contract. A zod schema registered with an id (`.meta({ id })`) becomes a component. Because of
 * defaults and transforms, a request may differ from the parsed value, so every component first exists in two forms:
 * "X" (output) and "XInput" (input). `settleComponents` keeps only the forms that the document refers to, and names a
 * single remaining form "X".
 */

export type Json = { [key: string]: unknown };
export type Io = "input" | "output";

const PREFIX = "#/components/schemas/";
const refOf = (id: string, io: Io): string => PREFIX + (io === "input" ? `${id}Input` : id);

/** Reference to the component of a registered schema. Errors: internal for a schema without an id. */
export function componentRef(schema: z.ZodType, io: Io): Json {
  const id = z.globalRegistry.get(schema)?.id;
  if (id === undefined) throw new AppError("internal", "a body or answer of the contract has no component id");
  return { $ref: refOf(id, io) };
}

/** Schema of a path or query parameter, which is not a component. */
export function inlineSchema(schema: z.ZodType, io: Io): Json {
  const { $schema: _, ...json } = z.toJSONSchema(schema, { ...settings(io) }) as Json;
  if (json.$defs !== undefined) throw new AppError("internal", "a parameter refers to a component");
  return cleaned(json);
}

/** Every registered schema in both forms. */
export function allComponents(): Record<string, Json> {
  const out: Record<string, Json> = {};
  for (const io of ["input", "output"] as const) {
    const { schemas } = z.toJSONSchema(z.globalRegistry, { ...settings(io), uri: (id) => refOf(id, io) });
    for (const [id, schema] of Object.entries(schemas)) {
      out[refOf(id, io).slice(PREFIX.length)] = cleaned(schema as Json);
    }
  }
  return out;
}

const settings = (io: Io) =>
  ({
    io,
    target: "draft-2020-12",
    unrepresentable: "any",
    override: ({ zodSchema, jsonSchema }: { zodSchema: z.core.$ZodType; jsonSchema: Json }) => {
      const legal = legalOf(zodSchema);
      if (legal) showLegal(jsonSchema, legal.schema, io);
      if (zodSchema instanceof z.ZodObject) requireFields(jsonSchema, zodSchema);
    },
  }) as const;

/** Replaces the schema that zod accepts by the legal one, and keeps the description. */
function showLegal(json: Json, legal: z.ZodType, io: Io): void {
  const { description } = json;
  for (const key of Object.keys(json)) delete json[key];
  Object.assign(json, shownAs(legal, io), description === undefined ? {} : { description });
}

const isComponent = (schema: z.core.$ZodType) => z.globalRegistry.get(schema)?.id !== undefined;

function shownAs(legal: z.ZodType, io: Io): Json {
  if (isComponent(legal)) return componentRef(legal, io);
  const element = legal instanceof z.ZodArray ? (legal.element as z.ZodType) : undefined;
  return element && isComponent(element)
    ? { type: "array", items: componentRef(element, io) }
    : inlineSchema(legal, io);
}

function requireFields(json: Json, { shape }: z.ZodObject): void {
  const demanded = Object.keys(shape).filter((key) => legalOf(shape[key] as z.ZodType)?.required);
  if (demanded.length > 0) json.required = [...((json.required as string[] | undefined) ?? []), ...demanded];
}

/** Removes the keys by which zod identifies a schema: `id`, `$id`, `$schema`. Properties named id are kept. */
function cleaned(schema: Json): Json {
  const out: Json = {};
  for (const [key, value] of Object.entries(schema)) {
    if (key === "id" || key === "$id" || key === "$schema") continue;
    if (key === "properties")
      out[key] = Object.fromEntries(Object.entries(value as Json).map(([k, v]) => [k, nested(v)]));
    else if (["items", "additionalProperties", "propertyNames"].includes(key)) out[key] = nested(value);
    else if (["anyOf", "oneOf", "allOf", "prefixItems"].includes(key)) out[key] = (value as unknown[]).map(nested);
    else out[key] = value;
  }
  return out;
}

const nested = (value: unknown): unknown =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? cleaned(value as Json) : value;

/** Adds the components that the document refers to. Where both forms agree, or one is unused, a single "X" remains. */
export function settleComponents(document: Json, schemas: Record<string, Json>): Json {
  const used = reachable(document, schemas);
  const differing = differingIds(schemas);
  const renamed = new Map<string, string>();
  for (const name of used) {
    const id = name.replace(/Input$/, "");
    if (name !== id && Object.hasOwn(schemas, id) && !(differing.has(id) && used.has(id))) renamed.set(name, id);
  }
  const named = (value: unknown): unknown =>
    JSON.parse(JSON.stringify(value), (key, text: unknown) =>
      key === "$ref" && typeof text === "string"
        ? PREFIX + (renamed.get(text.slice(PREFIX.length)) ?? text.slice(PREFIX.length))
        : text,
    );
  const kept = [...used].map((name) => [renamed.get(name) ?? name, named(schemas[name])] as const);
  const components = Object.fromEntries(kept.sort(([a], [b]) => (a < b ? -1 : 1)));
  const { components: others, ...rest } = named(document) as { components?: Json };
  return { ...rest, components: { ...others, schemas: components } };
}

const refsOf = (value: unknown): string[] =>
  [...JSON.stringify(value).matchAll(/"\$ref":"#\/components\/schemas\/([^"]+)"/g)].map(([, name]) => name as string);

function reachable(document: Json, schemas: Record<string, Json>): Set<string> {
  const found = new Set<string>();
  const open = refsOf(document);
  for (let name = open.pop(); name !== undefined; name = open.pop()) {
    if (found.has(name)) continue;
    if (!Object.hasOwn(schemas, name)) throw new AppError("internal", `the component ${name} does not exist`);
    found.add(name);
    open.push(...refsOf(schemas[name]));
  }
  return found;
}

/** Ids whose two forms differ, either directly or in a component that they refer to. */
function differingIds(schemas: Record<string, Json>): Set<string> {
  const plain = (value: unknown) => JSON.stringify(value).replace(/("#\/components\/schemas\/\w+?)Input"/g, '$1"');
  const ids = Object.keys(schemas).filter((name) => Object.hasOwn(schemas, `${name}Input`));
  const differing = new Set(ids.filter((id) => plain(schemas[id]) !== plain(schemas[`${id}Input`])));
  for (let before = -1; before !== differing.size; ) {
    before = differing.size;
    for (const id of ids) if (refsOf(schemas[id]).some((name) => differing.has(name))) differing.add(id);
  }
  return differing;
}
