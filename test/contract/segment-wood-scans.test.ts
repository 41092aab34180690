import { describe, expect, test } from "vitest";
import { SHAPE_METHODS, WoodResponse } from "../../shared/contract/segment-wood.ts";
import { leafyTree } from "../support/scans/leafy-tree.ts";
import { answered } from "../support/session/session-edits.ts";
import { sessionTest } from "../support/session/session-test.ts";
import { random } from "../support/session-model/source.ts";

/** Scans in which wood is not told from leaves as in good ones. */

const made = sessionTest();
const { points } = leafyTree();
const warningsOf = async (given: readonly (readonly number[])[], method: string) =>
  (await answered(made, WoodResponse, "/api/segment/wood", { points: given, method })).warnings.filter(
    (text) => !text.startsWith("No ground labels"),
  );

describe.each(SHAPE_METHODS)("%s", (method) => {
  test("noise is told with its size", async () => {
    const next = random(5);
    const normal = () => Math.sqrt(-2 * Math.log(1 - next())) * Math.cos(2 * Math.PI * next());
    const noisy = points.map((point) => point.map((value) => value + 0.02 * normal()));
    const told = (await warningsOf(noisy, method)).find((text) => text.startsWith("The points of the wood scatter by"));
    expect(told).toContain(`method ${method} `);
    const cm = Number(/scatter by ([\d.]+) cm/.exec(told ?? "")?.[1]);
    expect(cm).toBeGreaterThan(1.6);
    expect(cm).toBeLessThan(2.4);
  });

  test("points that are far apart are told", async () => {
    const next = random(6);
    const sparse = points.filter(() => next() < 0.01);
    const told = (await warningsOf(sparse, method)).find((text) => text.includes(" cm apart (median): too far"));
    expect(told).toContain(`method ${method} `);
  });

  test("a good scan is not", async () => {
    expect(await warningsOf(points, method)).toEqual([]);
  });
});
