import { z } from "zod";
import { type BulkKind, bulkKinds } from "../../shared/contract/bulk-list.ts";
import type { JsonShape } from "../native/core/request-text.ts";
import { unwrapped } from "./unwrapped.ts";

const shapes = new WeakMap<object, JsonShape>();

/** The shape of a body's schema: its bulk lists, and the objects and lists of objects that lead to them. */
export function shapeOf(schema: object): JsonShape {
  const known = shapes.get(schema);
  if (known) return known;
  const shape = derivedShape(schema);
  shapes.set(schema, shape);
  return shape;
}

function derivedShape(schema: unknown): JsonShape {
  const inner = unwrapped(schema);
  const kind: BulkKind | undefined = inner instanceof z.ZodType ? bulkKinds.get(inner)?.kind : undefined;
  if (kind) return { kind };
  if (inner instanceof z.ZodArray) {
    const element = derivedShape(inner.element);
    return element.kind === "object" && hasList(element) ? { ...element, kind: "items" } : { kind: "value" };
  }
  if (!(inner instanceof z.ZodObject)) return { kind: "value" };
  const fields = Object.entries(inner.shape).map(([name, field]) => [name, derivedShape(field)] as const);
  return { kind: "object", fields: Object.fromEntries(fields) };
}

const hasList = (shape: JsonShape): boolean =>
  shape.kind === "object" || shape.kind === "items"
    ? Object.values(shape.fields).some(hasList)
    : shape.kind !== "value";
