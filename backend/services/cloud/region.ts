import { AppError } from "../../../shared/errors.ts";
import type { NativeRegion, ScreenView } from "../../native/cloud/edit.ts";

type Fields = Readonly<Record<string, unknown>>;

const wrong = (message: string) => new AppError("invalid_argument", message);

/**
 * Parses a region of a request. `name` is the field that contains it. Errors: invalid_argument, naming the field.
 */
export function parseRegion(value: unknown, name = "region"): NativeRegion {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw wrong(`${name} is missing: give an object with kind box, polygon or squares_union`);
  }
  const fields = value as Fields;
  const { kind, invert = false } = fields;
  if (typeof invert !== "boolean") throw wrong(`${name}.invert must be true or false, not ${shown(invert)}`);
  switch (kind) {
    case "box":
      return box(fields, invert, name);
    case "polygon":
      return { kind, points: pixelPairs(fields.points, 3, `${name}.points`), screen: screenOf(fields, name), invert };
    case "squares_union":
      return { kind, ...squares(fields, name), screen: screenOf(fields, name), invert };
    default:
      throw wrong(`${name}.kind must be box, polygon or squares_union, not ${shown(kind)}`);
  }
}

/** A region that must be a box. */
export function parseBox(value: unknown, name: string): NativeRegion {
  const region = parseRegion(value, name);
  if (region.kind !== "box") throw wrong(`${name} must be a box, not a ${region.kind}`);
  return region;
}

function box(fields: Fields, invert: boolean, name: string): NativeRegion {
  const min = triple(fields.min, `${name}.min`);
  const max = triple(fields.max, `${name}.max`);
  for (const axis of [0, 1, 2] as const) {
    if (min[axis] > max[axis]) {
      const letter = "xyz"[axis];
      throw wrong(
        `${name}.min is above ${name}.max in ${letter} (${min[axis]} > ${max[axis]}): give the lower corner first`,
      );
    }
  }
  return { kind: "box", min, max, invert };
}

function squares(fields: Fields, name: string) {
  const centers = pixelPairs(fields.centers, 1, `${name}.centers`);
  const half_sizes = numbers(fields.half_sizes);
  if (half_sizes?.length !== centers.length || !half_sizes.every((size) => size > 0)) {
    throw wrong(`${name}.half_sizes must be ${centers.length} numbers above 0, one per center`);
  }
  return { centers, half_sizes };
}

function screenOf({ projection, view, canvas }: Fields, name: string): ScreenView {
  const { width, height } = (canvas ?? {}) as Fields;
  if (!isPositive(width) || !isPositive(height)) {
    throw wrong(`${name}.canvas must be {width, height} with numbers above 0`);
  }
  return {
    projection: matrix(projection, `${name}.projection`),
    view: matrix(view, `${name}.view`),
    width,
    height,
  };
}

const isPositive = (value: unknown): value is number =>
  typeof value === "number" && Number.isFinite(value) && value > 0;

function matrix(value: unknown, name: string): number[] {
  const entries = numbers(value);
  if (entries?.length !== 16) throw wrong(`${name} must be 16 finite numbers, column by column`);
  return entries;
}

function triple(value: unknown, name: string): [number, number, number] {
  const entries = numbers(value);
  if (entries?.length !== 3) throw wrong(`${name} must be three finite numbers`);
  return entries as [number, number, number];
}

function pixelPairs(value: unknown, least: number, name: string): number[][] {
  if (!Array.isArray(value) || value.length < least || !value.every((pair) => numbers(pair)?.length === 2)) {
    throw wrong(`${name} must be at least ${least} pairs [x, y] of finite numbers`);
  }
  return value as number[][];
}

function numbers(value: unknown): number[] | undefined {
  return Array.isArray(value) && value.every(Number.isFinite) ? (value as number[]) : undefined;
}

const shown = (value: unknown): string => (JSON.stringify(value) ?? "nothing").slice(0, 60);
