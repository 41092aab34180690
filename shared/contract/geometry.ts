import { z } from "zod";
import { bulkList } from "./bulk-list.ts";

/** (x, y, z), metres unless the field says otherwise. */
export const Point = z.tuple([z.number(), z.number(), z.number()]).meta({ id: "Point" });
export type Point = z.infer<typeof Point>;

export const Box = z
  .object({ min: Point.describe("lower corner (x, y, z)"), max: Point.describe("upper corner (x, y, z)") })
  .meta({ id: "Box", description: "axis-aligned box, including its faces; metres unless stated otherwise" });
export type Box = z.infer<typeof Box>;

/** 4 x 4 matrix, row-major on the wire. */
export const Matrix4 = z.array(z.number()).length(16).describe("4 x 4 matrix as 16 numbers, row-major");
export type Matrix4 = z.infer<typeof Matrix4>;

/** Three numbers. The service checks their count itself and answers 400 with a sentence, as the contract demands. */
export const LooseTriple = z.array(z.number());

/**
 * (n, 3) inline points. A single loop checks the plain arrays, instead of one schema per number: that takes
 * milliseconds for a million points and copies nothing.
 */
export const PointList = bulkList<[number, number, number]>(
  "points",
  isTriple,
  "must be a list of [x, y, z] with three finite numbers each",
).meta({ type: "array", items: { type: "array", items: { type: "number" }, minItems: 3, maxItems: 3 } });
export type PointList = z.infer<typeof PointList>;

function isTriple(value: unknown): boolean {
  return Array.isArray(value) && value.length === 3 && value.every(Number.isFinite);
}

/** (n) finite numbers, as many as there are points or cells. */
export const BulkNumbers = bulkList<number>("numbers", Number.isFinite, "must be a list of finite numbers").meta({
  type: "array",
  items: { type: "number" },
});
export type BulkNumbers = z.infer<typeof BulkNumbers>;

/** A few finite numbers, checked in one loop like PointList. */
export const NumberList = z
  .custom<number[]>((value) => Array.isArray(value) && value.every(Number.isFinite), {
    message: "must be a list of finite numbers",
  })
  .meta({ type: "array", items: { type: "number" } });
export type NumberList = z.infer<typeof NumberList>;
