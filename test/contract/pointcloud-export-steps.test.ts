import { describe, expect, test } from "vitest";
import { create, exported, exportTail, run } from "../support/app/app.ts";
import { lasBytes } from "../support/scans/las-bytes.ts";
import { readRawLas } from "../support/scans/las-records.ts";
import { sessionTest } from "../support/session/session-test.ts";

/** What an export does to the digits of its source, read by laz-perf and a reader by the letter of the specification. */

const made = sessionTest();
const random = (seed: number) => {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
};

/** Rows of a text file: coordinates within `side` metres with a number of decimals. */
function rows(decimals: number, side: number, from: readonly [number, number, number], n = 400): number[][] {
  const next = random(7);
  const unit = 10 ** decimals;
  return Array.from({ length: n }, () => from.map((start) => Math.round((start + next() * side) * unit) / unit));
}
const textOf = (points: readonly number[][], decimals: number) =>
  ["x y z", ...points.map((point) => point.map((value) => value.toFixed(decimals)).join(" "))].join("\n");

async function opened(name: string, content: string | Buffer): Promise<string> {
  return (await create(made, made.file(name, content))).session_id;
}

async function written(session_id: string, format: string, more: object = {}) {
  const tail = await exportTail(made, { source: { session_id, ...more }, format });
  expect(tail).toMatchObject({ success: true });
  const las = await readRawLas(Buffer.from(tail.data ?? "", "base64"));
  const axis = (k: number) =>
    (las.fields.get("XYZ"[k] ?? "") ?? []).map((step) => Number(step) * (las.scale[k] ?? 0) + (las.offset[k] ?? 0));
  return { scale: las.scale, axes: [axis(0), axis(1), axis(2)], warnings: tail.warnings ?? [] };
}

function largestMove(axes: readonly number[][], points: readonly number[][]): number {
  return Math.max(...points.flatMap((point, i) => point.map((value, k) => Math.abs((axes[k]?.[i] ?? NaN) - value))));
}

describe.each(["las", "laz"])("%s", (format) => {
  test.each([3, 4, 5])("keeps the %i decimals of a text file, near and far from zero", async (decimals) => {
    for (const from of [
      [-3, 2, 0.5],
      [412000, 5300000, 300],
    ] as const) {
      const points = rows(decimals, 30, from);
      const id = await opened(`digits-${format}-${decimals}-${from[0]}.xyz`, textOf(points, decimals));
      const { scale, axes, warnings } = await written(id, format);
      const step = Number(`1e-${decimals}`);
      expect(scale).toEqual([step, step, step]);
      expect(largestMove(axes, points)).toBeLessThan(2e-9);
      expect(warnings).toEqual([]);
    }
  });

  test("coordinates with more digits move by a twentieth of the spacing at most", async () => {
    for (const [side, step] of [
      [20, 1e-3],
      [0.1, 1e-4],
    ] as const) {
      const points = rows(9, side, [0, 0, 0]);
      const id = await opened(`fine-${format}-${side}.xyz`, textOf(points, 9));
      const { scale, axes, warnings } = await written(id, format);
      expect(scale).toEqual([step, step, step]);
      expect(largestMove(axes, points)).toBeLessThan(0.51 * step);
      expect(warnings).toEqual([]);
    }
  });

  test("a turned cloud from LAS keeps the step of its file, close as its points may be", async () => {
    const points = rows(3, 0.1, [0, 0, 0]);
    const bytes = lasBytes(points.map(([x = 0, y = 0, z = 0]) => ({ x, y, z })));
    const id = await opened(`turned-${format}.las`, bytes);
    expect((await written(id, format)).axes[0]?.slice(0, 5)).toEqual(
      points.slice(0, 5).map(([x]) => expect.closeTo(x ?? 0, 9)),
    );
    const [cos, sin] = [Math.cos(1), Math.sin(1)];
    const matrix = [cos, -sin, 0, 0, sin, cos, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1];
    await run(made, `/api/cloud/session/${id}/transform`, { matrix });
    const turned = await written(id, format);
    expect([turned.scale, turned.warnings]).toEqual([[0.001, 0.001, 0.001], []]);
  });

  test("what no step keeps is told: how many points move, and how far", async () => {
    const points = [...rows(9, 0.05, [0, 0, 0]), [1e7, 0, 0]];
    const id = await opened(`far-${format}.xyz`, textOf(points, 9));
    const { scale, axes, warnings } = await written(id, format);
    expect(scale[0]).toBe(0.01);
    const moves = points.map(([x = 0], i) => Math.abs((axes[0]?.[i] ?? NaN) - x));
    const told = warnings.find((text) => text.includes("too much for steps")) ?? "";
    expect(told).toMatch(/^the x coordinates span 10000000, .* which moves 400 of 401 points by up to 0\.00\d+$/);
    expect(Number(told.split(" ").at(-1))).toBeCloseTo(Math.max(...moves), 9);
  });
});

describe("intensity of text", () => {
  const cloud = (name: string, intensities: readonly number[]) =>
    opened(name, ["x y z intensity", ...intensities.map((value, i) => `${i} 0 0 ${value}`)].join("\n"));
  const CUT = "intensity: written with 4 decimals, which changes some of the 16-bit values.";
  const warned = async (session_id: string, format: string) =>
    (await exportTail(made, { source: { session_id }, format })).warnings ?? [];

  test("a warning says that four decimals change a value, and none if they change none", async () => {
    const thirds = await cloud("thirds.xyz", [0, 1, 2, 3]);
    const halves = await cloud("halves.xyz", [0, 1, 2]);
    for (const format of ["txt", "csv", "asc"]) {
      expect(await warned(thirds, format)).toEqual([CUT]);
      expect(await warned(halves, format)).toEqual([]);
    }
    for (const format of ["laz", "xyz", "ply", "e57", "pcd"]) expect(await warned(thirds, format)).not.toContain(CUT);
  });

  test("the values that are read back differ only where the warning stands", async () => {
    const values = async (name: string, intensities: readonly number[]) => {
      const id = await cloud(name, intensities);
      const csv = (await exported(made, id, "csv")).toString().split("\n").slice(1);
      const back = csv.map((line) => Math.round(Number(line.split(",").at(-1)) * 65535));
      const las = await readRawLas(await exported(made, id, "las"));
      return [back, (las.fields.get("intensity") ?? []).map(Number)];
    };
    const [halves, stored] = await values("halves-back.xyz", [0, 1, 2]);
    expect(halves).toEqual(stored);
    const [thirds, other] = await values("thirds-back.xyz", [0, 1, 2, 3]);
    expect(thirds).not.toEqual(other);
  });
});
