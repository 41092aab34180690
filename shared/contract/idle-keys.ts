import type { z } from "zod";

/** A JSON object as it was sent, before any check of its values. */
export type Sent = Readonly<Record<string, unknown>>;

/** Keys that mean nothing beside the others of the same object; "source.max_points" is a key of a part. */
export type IdleKeys = (sent: Sent) => readonly string[];

const rules = new WeakMap<object, IdleKeys>();

/**
 * Notes which keys of a request mean nothing beside its others. Where a client sends them with a value that is not the
 * default, the answer names them in `warnings`, like keys that the schema does not have. Pass the schema that requests
 * are checked with: the note is attached to the instance.
 */
export function withIdleKeys<S extends z.ZodObject>(schema: S, rule: IdleKeys): S {
  rules.set(schema, rule);
  return schema;
}

/** The rule of a schema, or of the schema that it was derived from. */
export const idleKeysOf = (schema: object): IdleKeys | undefined => rules.get(schema);

/** Whether a value was sent that asks for something: null and empty lists do not. */
export const isSent = (value: unknown): boolean =>
  value !== undefined && value !== null && !(Array.isArray(value) && value.length === 0);

/**
 * The rule of requests with a choice among methods: `fields_of` lists the fields of each; those of the others are idle.
 * A method that it does not list, and a wrong one, has all fields.
 */
export function fieldsOfMethods(
  key: string,
  standard: string,
  fields_of: Readonly<Record<string, readonly string[]>>,
): IdleKeys {
  const all = [...new Set(Object.values(fields_of).flat())];
  return (sent) => {
    const own = fields_of[String(sent[key] ?? standard).toLowerCase()];
    return own ? all.filter((name) => !own.includes(name)) : [];
  };
}

/** The rule of several rules. */
export const idleByAll =
  (...all: readonly IdleKeys[]): IdleKeys =>
  (sent) =>
    all.flatMap((rule) => rule(sent));

/** The rule of requests that label every point of a source, or of inline points without one. */
export const wholeSource: IdleKeys = ({ source, sources }) => [
  ...(isSent(source) || isSent(sources) ? ["points"] : []),
  "source.max_points",
];

/** The rule of requests that take a source instead of inline points. */
export const pointsOfSource: IdleKeys = ({ source }) => (isSent(source) ? ["points"] : []);

/** Keys of `fields` are idle unless `used` says that they are used. */
export const idleUnless =
  (used: (sent: Sent) => boolean, ...fields: readonly string[]): IdleKeys =>
  (sent) =>
    used(sent) ? [] : fields;
