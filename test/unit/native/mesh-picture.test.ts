import { expect, test } from "vitest";
import { addon } from "../../../backend/native/core/addon.ts";
import type { NativeColumn } from "../../../backend/native/core/handles.ts";
import {
  NO_TRIANGLE,
  type RasterCamera,
  type RasterLight,
  rasterizeMesh,
} from "../../../backend/native/mesh-picture.ts";

const f32 = (...values: number[]) => new addon.Column("f32", new Uint8Array(Float32Array.from(values).buffer));
const u32 = (...values: number[]) => new addon.Column("u32", new Uint8Array(Uint32Array.from(values).buffer));

/** The left half of a picture of 4 x 2 pixels of 1 m, 5 m from the camera. */
const square = () => ({
  vertices: f32(0, 0, 0, 2, 0, 0, 2, 2, 0, 0, 2, 0),
  indices: u32(0, 1, 2, 0, 2, 3),
  textures: [],
});
const camera: RasterCamera = {
  view: [1, 0, 0, -2, 0, 1, 0, -1, 0, 0, 1, 5],
  perspective: false,
  scale: 1,
  near_m: 0,
  width: 4,
  height: 2,
};
const light: RasterLight = { toward: [0, 0, -1], ambient: 1, is_smooth: false, background: [1, 2, 3, 4] };

const bytes = (column: NativeColumn) => {
  const out = new Uint8Array(column.bytes);
  column.readInto(out, 0);
  return out;
};

test("a picture has colours, depths and triangles", async () => {
  const mesh = { ...square(), colors: f32(...Array<number>(12).fill(1)) };
  const picture = await rasterizeMesh(mesh, camera, light, 1).promise;
  const row = [255, 255, 255, 255, 255, 255, 255, 255, 1, 2, 3, 4, 1, 2, 3, 4];
  expect([...bytes(picture.rgba)]).toEqual([...row, ...row]);
  expect([...new Float32Array(bytes(picture.depth).buffer)].slice(0, 4)).toEqual([5, 5, Infinity, Infinity]);
  const triangles = [...new Uint32Array(bytes(picture.triangles).buffer)];
  expect(new Set(triangles)).toEqual(new Set([0, 1, NO_TRIANGLE]));
  for (const column of Object.values(picture)) column.release();
});

test("textures are read, and mistakes are named", async () => {
  const textured = {
    ...square(),
    uvs: f32(0, 0, 1, 0, 1, 1, 0, 1),
    triangle_image: u32(0, 0),
    textures: [{ width: 1, height: 1, rgba: new addon.Column("u8", Uint8Array.of(9, 99, 199, 255)) }],
  };
  const picture = await rasterizeMesh(textured, camera, light, 2).promise;
  expect([...bytes(picture.rgba)].slice(0, 4)).toEqual([9, 99, 199, 255]);
  const { promise } = rasterizeMesh({ ...textured, textures: [] }, camera, light, 1);
  await expect(promise).rejects.toMatchObject({ code: "invalid_argument" });
  expect(() => rasterizeMesh(square(), { ...camera, view: [1] }, light, 1)).toThrow("view");
  expect(() => rasterizeMesh(square(), camera, { ...light, background: [0, 0, 0, 256] }, 1)).toThrow("background");
  // A fraction is refused: a byte would drop it without a word.
  expect(() => rasterizeMesh(square(), camera, { ...light, background: [0, 0.5, 0, 255] }, 1)).toThrow("whole numbers");
});
