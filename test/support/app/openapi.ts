import type { TestApp } from "./app.ts";

export type JsonSchema = {
  readonly $ref?: string;
  readonly description?: string;
  readonly type?: string | readonly string[];
  readonly required?: readonly string[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly items?: JsonSchema;
  readonly prefixItems?: readonly JsonSchema[];
  readonly additionalProperties?: JsonSchema | boolean;
  readonly anyOf?: readonly JsonSchema[];
  readonly oneOf?: readonly JsonSchema[];
  readonly allOf?: readonly JsonSchema[];
};
type Content = Readonly<Record<string, { readonly schema: JsonSchema; readonly examples?: Examples }>>;
type Examples = Readonly<Record<string, { readonly value: { readonly detail: unknown; readonly code: string } }>>;
export interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly description?: string;
}
export interface Operation {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly content: Content };
  readonly responses: Readonly<Record<string, { readonly content?: Content }>>;
}
export interface OpenApi {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  readonly components: { readonly schemas: Readonly<Record<string, JsonSchema>> };
}

export const documentOf = async ({ app }: TestApp): Promise<OpenApi> =>
  (await app.inject({ url: "/openapi.json" })).json() as OpenApi;

export const operationsOf = ({ paths }: OpenApi) =>
  Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, op]) => ({ path, method: method.toUpperCase(), op })),
  );

export const nameOf = ({ $ref }: JsonSchema): string => ($ref ?? "").split("/").at(-1) ?? "";

/** A field of a request or an answer: where it is, and whether it says what it means. */
export interface Field {
  readonly where: string;
  readonly described: boolean;
}

/** Every field that an operation's parameters, body and answers have, each component once. */
export function fieldsOf(document: OpenApi): Field[] {
  const { schemas } = document.components;
  const seen = new Set<string>();
  const fields: Field[] = [];
  const target = (schema: JsonSchema): JsonSchema => {
    const found = schemas[nameOf(schema)];
    if (!found) throw new Error(`no component ${schema.$ref}`);
    return found;
  };
  const saysWhat = (schema: JsonSchema): boolean =>
    Boolean(schema.description) || (schema.$ref !== undefined && saysWhat(target(schema)));
  const walk = (schema: JsonSchema, where: string): void => {
    if (schema.$ref !== undefined) {
      const name = nameOf(schema);
      if (!seen.has(name)) {
        seen.add(name);
        walk(target(schema), name);
      }
      return;
    }
    for (const [key, field] of Object.entries(schema.properties ?? {})) {
      fields.push({ where: `${where}.${key}`, described: saysWhat(field) });
      walk(field, `${where}.${key}`);
    }
    for (const part of [schema.anyOf, schema.oneOf, schema.allOf, schema.prefixItems].flatMap((list) => list ?? [])) {
      walk(part, where);
    }
    if (schema.items) walk(schema.items, `${where}[]`);
    if (typeof schema.additionalProperties === "object") walk(schema.additionalProperties, `${where}{}`);
  };
  for (const { op } of operationsOf(document)) {
    for (const { name, description } of op.parameters ?? []) {
      fields.push({ where: `${op.operationId} ${name}`, described: Boolean(description) });
    }
    for (const { content = {} } of [op.requestBody ?? {}, ...Object.values(op.responses)]) {
      for (const { schema } of Object.values(content)) walk(schema, op.operationId);
    }
  }
  return fields;
}
