import { z } from "zod";
import { BulkColumn, recordsOf } from "../../shared/contract/bulk-list.ts";
import { idleKeysOf, isSent } from "../../shared/contract/idle-keys.ts";
import { unwrapped } from "./unwrapped.ts";

/** `path` is asked for only where a key is unknown: bodies have up to millions of records. */
type Search = (value: unknown, path: () => string, found: string[]) => void;

/** By unwrapped schema; null: nothing to look for. */
const searches = new WeakMap<object, Search | null>();

/**
 * Paths of the keys in `value` that the object schema does not define, such as `scalar_filters[0].maximum`, and of those
 * that mean nothing beside the others (shared/contract/idle-keys.ts). Nested objects and lists of objects are searched
 * too. Empty when `value` is not an object.
 */
export function unknownKeys(schema: unknown, value: unknown): string[] {
  const found: string[] = [];
  searchOf(schema)?.(value, () => "", found);
  return found;
}

function searchOf(schema: unknown): Search | null {
  const inner = unwrapped(schema);
  if (!(inner instanceof z.ZodType)) return null;
  let search = searches.get(inner);
  if (search === undefined) {
    const element = inner instanceof z.ZodArray ? inner.element : recordsOf(inner);
    search = element ? listSearch(element) : inner instanceof z.ZodObject ? recordSearch(inner) : null;
    searches.set(inner, search);
  }
  return search;
}

function listSearch(element: z.core.$ZodType): Search | null {
  const search = unwrapped(element) instanceof z.ZodObject ? searchOf(element) : null;
  if (!search) return null;
  return (value, path, found) => {
    if (value instanceof BulkColumn) found.push(...value.unknown.map((key) => `${path()}${key}`));
    if (!Array.isArray(value)) return;
    for (const [i, item] of value.entries()) if (!Array.isArray(item)) search(item, () => `${path()}[${i}]`, found);
  };
}

function recordSearch(schema: z.ZodObject): Search {
  const fields = new Map(Object.entries(schema.shape).map(([name, field]) => [name, searchOf(field)]));
  const idle = idleSearch(schema);
  return (value, path, found) => {
    if (typeof value !== "object" || value === null || Array.isArray(value) || value instanceof Uint8Array) return;
    const record = value as Record<string, unknown>;
    for (const key of Object.keys(record)) {
      const search = fields.get(key);
      if (search === null) continue;
      const named = () => (path() === "" ? key : `${path()}.${key}`);
      if (search === undefined) found.push(named());
      else search(record[key], named, found);
    }
    for (const key of idle(record)) found.push(path() === "" ? key : `${path()}.${key}`);
  };
}

/** The keys of a record that its schema's rule calls idle, and that were sent with other values than the defaults. */
function idleSearch(schema: z.ZodObject): (record: Readonly<Record<string, unknown>>) => string[] {
  const rule = idleKeysOf(schema);
  if (!rule) return () => [];
  const standard = (key: string): unknown => {
    const field: unknown = schema.shape[key];
    return field instanceof z.ZodType ? field.safeParse(undefined).data : undefined;
  };
  return (record) =>
    [...new Set(rule(record))].filter((key) => {
      const [holder = "", part] = key.split(".");
      const sent = part === undefined ? record[holder] : (record[holder] as Record<string, unknown> | null)?.[part];
      return isSent(sent) && (part !== undefined || JSON.stringify(sent) !== JSON.stringify(standard(key)));
    });
}
