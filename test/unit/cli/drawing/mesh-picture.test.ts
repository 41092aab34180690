import { describe, expect, test } from "vitest";
import { frameCamera, obliqueCamera } from "../../../../backend/cli/drawing/camera.ts";
import { drawMesh } from "../../../../backend/cli/drawing/mesh-picture.ts";
import type { Raster } from "../../../../backend/cli/drawing/render.ts";
import { VIEWS, viewFrame } from "../../../../backend/cli/drawing/view-frame.ts";

const at = ({ width, data }: Raster, x: number, y: number) => [
  ...data.subarray(4 * (y * width + x), 4 * (y * width + x) + 3),
];
const WHITE = [255, 255, 255];

/** Three squares of one metre, each facing an axis, in red, green and blue. */
function walls() {
  const square = (axis: number, from: number) =>
    [
      [0, 0],
      [1, 0],
      [1, 1],
      [0, 1],
    ].flatMap(([a = 0, b = 0]) => [0, 1, 2].map((k) => (k === axis ? from : k === (axis + 1) % 3 ? a : b)));
  const vertices = Float32Array.from([square(0, 0), square(1, 1), square(2, 0)].flat());
  const indices = Uint32Array.from([0, 4, 8].flatMap((i) => [i, i + 1, i + 2, i, i + 2, i + 3]));
  const colors = Float32Array.from({ length: 36 }, (_, i) => (Math.floor(i / 12) === i % 3 ? 1 : 0));
  return { vertices, indices, colors };
}

describe("views along the axes", () => {
  const box = { min: [0, 0, 0], max: [1, 1, 1] } as const;
  test.each([
    ["top", 2],
    ["front", 1],
    ["side", 0],
  ])("%s shows the wall that faces it", async (name, channel) => {
    const view = VIEWS.find((one) => one.name === name);
    if (!view) throw new Error("no such view");
    const frame = viewFrame(view, box, 100);
    const picture = await drawMesh(walls(), frameCamera(frame));
    expect([picture.width, picture.height]).toEqual([frame.width_px, frame.height_px]);
    const color = at(picture, 50, 50);
    expect(color.indexOf(Math.max(...color))).toBe(channel);
    expect(color.filter((value) => value > 60)).toHaveLength(1);
    // The border of 2 % is empty, and nothing else is.
    expect(at(picture, 0, 50)).toEqual(WHITE);
    expect(at(picture, 4, 50)).toEqual(color);
    expect(at(picture, 95, 4)).toEqual(color);
  });

  test("right is right, and up is up", async () => {
    const [top] = VIEWS;
    if (!top) throw new Error("no top view");
    // A triangle in the upper right corner: x and y are large there.
    const mesh = { vertices: Float32Array.from([1, 1, 0, 0.5, 1, 0, 1, 0.5, 0]), indices: Uint32Array.of(0, 1, 2) };
    const picture = await drawMesh(mesh, frameCamera(viewFrame(top, box, 100)));
    expect(at(picture, 90, 10)).not.toEqual(WHITE);
    for (const [x, y] of [
      [10, 10],
      [10, 90],
      [90, 90],
    ] as const)
      expect(at(picture, x, y)).toEqual(WHITE);
  });
});

test("what is nearer to the viewer hides the rest", async () => {
  const [top] = VIEWS;
  if (!top) throw new Error("no top view");
  const sheet = (z: number) => [0, 0, z, 1, 0, z, 1, 1, z, 0, 1, z];
  const mesh = {
    vertices: Float32Array.from([...sheet(5), ...sheet(-5)]),
    indices: Uint32Array.of(0, 1, 2, 0, 2, 3, 4, 5, 6, 4, 6, 7),
    colors: Float32Array.from({ length: 24 }, (_, i) => (i < 12 ? Number(i % 3 === 0) : Number(i % 3 === 2))),
  };
  const camera = frameCamera(viewFrame(top, { min: [0, 0, -5], max: [1, 1, 5] }, 60));
  const [red = 0, , blue = 0] = at(await drawMesh(mesh, camera), 30, 30);
  expect(red).toBeGreaterThan(blue);
});

test("holes of a texture let the background through", async () => {
  const [top] = VIEWS;
  if (!top) throw new Error("no top view");
  // Four texels: two opaque ones above, two holes below.
  const texture = {
    width: 2,
    height: 2,
    data: Uint8Array.of(...[200, 0, 0, 255, 200, 0, 0, 255], ...[0, 200, 0, 0, 0, 200, 0, 0]),
  };
  const mesh = {
    vertices: Float32Array.of(0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0),
    indices: Uint32Array.of(0, 1, 2, 0, 2, 3),
    uvs: Float32Array.of(0, 1, 1, 1, 1, 0, 0, 0),
    triangle_image: Uint32Array.of(0, 0),
    textures: [texture],
  };
  const picture = await drawMesh(mesh, frameCamera(viewFrame(top, { min: [0, 0, 0], max: [1, 1, 0] }, 80)));
  expect(at(picture, 40, 60)).toEqual(WHITE);
  const [red = 0, green = 0] = at(picture, 40, 20);
  expect([red > 60, green < 40]).toEqual([true, true]);
});

test("an oblique picture shows every vertex, with z upwards", async () => {
  const vertices = Float32Array.from([0, 0, 0, 4, 0, 0, 0, 3, 0, 0, 0, 9, -1, 2, 3]);
  const camera = obliqueCamera([1, -1, 0.5], vertices, 300);
  expect(Math.hypot(...camera.toward)).toBeCloseTo(1, 12);
  expect(camera.up[2]).toBeGreaterThan(0.8);
  const pixel = (i: number, axis: readonly number[]) =>
    [0, 1, 2].reduce((sum, k) => sum + ((vertices[3 * i + k] ?? 0) - (camera.center[k] ?? 0)) * (axis[k] ?? 0), 0) /
    camera.metres_per_px;
  for (let i = 0; i < 5; i += 1) {
    expect(Math.abs(pixel(i, camera.right))).toBeLessThanOrEqual(camera.width_px / 2);
    expect(Math.abs(pixel(i, camera.up))).toBeLessThanOrEqual(camera.height_px / 2);
  }
  expect(Math.max(camera.width_px, camera.height_px)).toBe(300);
});

test("a canceled drawing ends with the reason", async () => {
  const controller = new AbortController();
  controller.abort(new Error("stop"));
  const camera = obliqueCamera([1, -1, 0.5], walls().vertices, 50);
  await expect(drawMesh(walls(), camera, controller.signal)).rejects.toThrow("stop");
});
