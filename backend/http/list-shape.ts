import { z } from "zod";
import { bulkKinds, recordsOf } from "../../shared/contract/bulk-list.ts";
import type { JsonShape } from "../native/core/request-text.ts";
import { recordFields } from "./record-fields.ts";
import { unwrapped } from "./unwrapped.ts";

const shapes = new WeakMap<object, JsonShape>();

/** The shape of a body's schema: its bulk lists, and the objects, arrays and records that lead to them. */
export function shapeOf(schema: object): JsonShape {
  const known = shapes.get(schema);
  if (known) return known;
  const shape = derivedShape(schema);
  shapes.set(schema, shape);
  return shape;
}

function derivedShape(schema: unknown): JsonShape {
  const inner = unwrapped(schema);
  const kind = inner instanceof z.ZodType ? bulkKinds.get(inner)?.kind : undefined;
  const records = inner instanceof z.ZodType ? recordsOf(inner) : undefined;
  if (records) return { kind: "records", columns: recordFields(records) };
  if (kind && kind !== "records") return { kind };
  if (inner instanceof z.ZodArray) return holding("array", derivedShape(inner.element));
  if (inner instanceof z.ZodRecord) return holding("record", derivedShape(inner.valueType));
  if (!(inner instanceof z.ZodObject)) return { kind: "value" };
  const fields = Object.entries(inner.shape).map(([name, field]) => [name, derivedShape(field)] as const);
  return { kind: "object", fields: Object.fromEntries(fields) };
}

/** Arrays and records without bulk lists stay values. */
const holding = (kind: "array" | "record", item: JsonShape): JsonShape =>
  leadsToList(item) ? { kind, item } : { kind: "value" };

function leadsToList(shape: JsonShape): boolean {
  if (shape.kind === "value") return false;
  if (shape.kind === "array" || shape.kind === "record") return leadsToList(shape.item);
  return shape.kind !== "object" || Object.values(shape.fields).some(leadsToList);
}
