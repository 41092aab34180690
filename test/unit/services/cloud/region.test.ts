import { expect, test } from "vitest";
import { parseBox, parseRegion } from "../../../../backend/services/cloud/region.ts";

const eye = [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1];
const camera = { projection: eye, view: eye, canvas: { width: 640, height: 480 } };
const screen = { projection: eye, view: eye, width: 640, height: 480 };
const box = { kind: "box", min: [0, 1, 2], max: [3, 4, 5] };
const message = (body: () => unknown) => {
  try {
    return `taken: ${JSON.stringify(body())}`;
  } catch (error) {
    return (error as Error).message;
  }
};

test("parses each kind and ignores other keys", () => {
  expect(parseRegion({ ...box, color: "red" })).toEqual({ ...box, invert: false });
  expect(parseRegion({ ...box, invert: true })).toEqual({ ...box, invert: true });
  const points = [
    [0, 0],
    [9, 0],
    [9, 9],
  ];
  expect(parseRegion({ kind: "polygon", points, ...camera })).toEqual({
    kind: "polygon",
    points,
    screen,
    invert: false,
  });
  const squares = { kind: "squares_union", centers: [[5, 5]], half_sizes: [2] };
  expect(parseRegion({ ...squares, ...camera })).toEqual({ ...squares, screen, invert: false });
});

test("a flat box and a single point are valid boxes", () => {
  expect(parseRegion({ ...box, max: [0, 1, 2] })).toMatchObject({ min: [0, 1, 2], max: [0, 1, 2] });
});

test("messages name the field as in the request", () => {
  const name = "strokes[2].limit_box";
  expect(message(() => parseBox({ ...box, min: [0, 1] }, name))).toBe(`${name}.min must be three finite numbers`);
  expect(
    message(() =>
      parseBox(
        {
          kind: "polygon",
          points: [
            [0, 0],
            [1, 0],
            [1, 1],
          ],
          ...camera,
        },
        name,
      ),
    ),
  ).toBe(`${name} must be a box, not a polygon`);
  expect(message(() => parseRegion(null, name))).toMatch(/^strokes\[2\]\.limit_box is missing/);
});

test("values of the wrong type are refused, never a bug", () => {
  for (const strange of [undefined, null, 1, "box", [], true]) {
    expect(message(() => parseRegion(strange))).toMatch(/^region is missing/);
    expect(message(() => parseRegion({ ...box, min: strange }))).toBe("region.min must be three finite numbers");
    expect(message(() => parseRegion({ kind: "polygon", points: strange, ...camera }))).toMatch(/^region\.points/);
    expect(
      message(() => parseRegion({ kind: "squares_union", centers: [[0, 0]], half_sizes: strange, ...camera })),
    ).toMatch(/^region\.half_sizes/);
    const points = [
      [0, 0],
      [1, 0],
      [1, 1],
    ];
    expect(message(() => parseRegion({ kind: "polygon", points, ...camera, canvas: strange }))).toMatch(
      /^region\.canvas/,
    );
    expect(message(() => parseRegion({ kind: "polygon", points, ...camera, view: strange }))).toMatch(/^region\.view/);
  }
  expect(message(() => parseRegion({ ...box, min: [0, Number.NaN, 0] }))).toBe(
    "region.min must be three finite numbers",
  );
  expect(message(() => parseRegion({ kind: "x".repeat(500) })).length).toBeLessThan(150);
});
