import { expect, test } from "vitest";
import { create, scanFile } from "../../support/app/app.ts";
import { sessionTest } from "../../support/session/session-test.ts";

const made = sessionTest();
const DEGREES = /look like longitude and latitude in degrees/;

/** 400 points within `extent` from a corner, heights from 300 to 330. */
const rowsAt = (corner: readonly [number, number], extent: number, higher = 30) =>
  Array.from({ length: 400 }, (_, i) => {
    const [u, v] = [(i % 20) / 20, Math.floor(i / 20) / 20];
    return `${(corner[0] + u * extent).toFixed(8)} ${(corner[1] + v * extent).toFixed(8)} ${300 + (higher * ((i * 7) % 20)) / 19}`;
  });
const warned = async (rows: readonly string[]) =>
  ((await create(made, scanFile(made, ["x y z", ...rows]))).warnings ?? []).some((text) => DEGREES.test(text));

test.each([
  ["a plot of 40 m in the west", [-80.5, 37.4], 0.0004],
  ["a survey of 5 km in the south", [151.2, -33.8], 0.05],
] as const)(
  "%s without a coordinate system: a warning says that x and y look like degrees",
  async (_, corner, extent) => {
    expect(await warned(rowsAt(corner, extent))).toBe(true);
  },
);

test.each([
  ["a plot in a local frame", [20, 30], 40, 30],
  ["a potted plant", [2, 3], 0.05, 0.4],
  ["a stem around the zero of its frame", [-0.05, -0.05], 0.1, 25],
  ["a plot in UTM", [476773, 5429145], 40, 30],
] as const)("%s is taken as metres", async (_, corner, extent, higher) => {
  expect(await warned(rowsAt(corner, extent, higher))).toBe(false);
});
