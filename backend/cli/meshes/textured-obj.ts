import { PNG } from "pngjs";
import type { Raster } from "../drawing/render.ts";
import type { MeshParts } from "./mesh.ts";
import { decimalsFor } from "./obj.ts";
import { colorByte } from "./ply.ts";
import { cornerValues, type MeshTexture, type TexturedMesh, textureParts } from "./textured.ts";

/** Triangles per block. */
const BLOCK = 1 << 13;

export interface NamedParts {
  /** Name in the folder of the mesh. */
  readonly name: string;
  readonly parts: MeshParts;
}

/** One material: of a texture, or of a colour. */
interface ObjMaterial {
  readonly name: string;
  readonly texture: MeshTexture | null;
  /** 0..255. */
  readonly color: readonly [number, number, number];
  readonly triangles: Uint32Array;
}

/**
 * A Wavefront OBJ file, its MTL file and, per texture, the image and its alpha as an image. Triangles without a texture have a
 * material per colour, for OBJ has no standard colours of vertices. Coordinates in metres, z upwards.
 * base  begin of all names but that of the OBJ file: no spaces, which readers take for the end of a name.
 */
export function texturedObj(mesh: TexturedMesh, file: string, base: string): NamedParts[] {
  const materials = objMaterials(mesh);
  const images = materials.flatMap(({ texture }) => texture ?? []);
  return [
    { name: file, parts: meshLines(mesh, materials, `${base}.mtl`) },
    { name: `${base}.mtl`, parts: [materialLines(materials, base)] },
    ...images.flatMap((texture) => [
      { name: imageName(base, texture), parts: [texture.png] },
      { name: alphaName(base, texture), parts: [alphaImage(texture.picture)] },
    ]),
  ];
}

const imageName = (base: string, { name }: MeshTexture) => `${base}_${name}.png`;
const alphaName = (base: string, { name }: MeshTexture) => `${base}_${name}_alpha.png`;

/** Alpha in all four channels: some readers take that of `map_d`, others its brightness. */
function alphaImage({ width, height, data }: Raster): Uint8Array {
  const picture = new PNG({ width, height });
  for (let at = 0; at < data.length; at += 4) picture.data.fill(data[at + 3] ?? 0, at, at + 4);
  return PNG.sync.write(picture);
}

function objMaterials(mesh: TexturedMesh): ObjMaterial[] {
  return textureParts(mesh).flatMap(({ texture, triangles }) =>
    texture
      ? [{ name: `texture_${texture.name}`, texture, color: [255, 255, 255] as const, triangles }]
      : colorMaterials(mesh.colors, triangles),
  );
}

function colorMaterials(colors: Float32Array, triangles: Uint32Array): ObjMaterial[] {
  const byColor = new Map<number, number[]>();
  for (const t of triangles) {
    const channel = (k: number) => colorByte(colors[9 * t + k] ?? Number.NaN);
    const key = 65536 * channel(0) + 256 * channel(1) + channel(2);
    const list = byColor.get(key);
    if (list) list.push(t);
    else byColor.set(key, [t]);
  }
  return Array.from(byColor, ([key, list]) => ({
    name: `color_${key.toString(16).padStart(6, "0")}`,
    texture: null,
    color: [key >> 16, (key >> 8) & 255, key & 255] as const,
    triangles: Uint32Array.from(list),
  }));
}

function materialLines(materials: readonly ObjMaterial[], base: string): string {
  const blocks = materials.map(({ name, texture, color }) =>
    [
      `newmtl ${name}`,
      `Kd ${color.map((value) => (value / 255).toFixed(6)).join(" ")}`,
      "Ks 0 0 0",
      "illum 1",
      ...(texture ? [`map_Kd ${imageName(base, texture)}`, `map_d ${alphaName(base, texture)}`] : []),
    ].join("\n"),
  );
  return `${blocks.join("\n\n")}\n`;
}

function* meshLines(mesh: TexturedMesh, materials: readonly ObjMaterial[], library: string): MeshParts {
  const { origin, vertices, normals, uvs, indices } = mesh;
  const decimals = decimalsFor(vertices.reduce((most, value) => Math.max(most, Math.abs(value)), 0));
  yield `# ${indices.length / 3} triangles; coordinates in metres, z upwards\nmtllib ${library}\n`;
  let [corner, textured] = [1, 1];
  for (const { name, texture, triangles } of materials) {
    yield `g ${name}\nusemtl ${name}\n`;
    for (let first = 0; first < triangles.length; first += BLOCK) {
      const block = triangles.subarray(first, first + BLOCK);
      const lines: string[] = [];
      rows(cornerValues(vertices, block, 3), 3, "v", lines, (value, k) => (value + (origin[k] ?? 0)).toFixed(decimals));
      rows(cornerValues(normals, block, 3), 3, "vn", lines, (value) => value.toFixed(5));
      const image = texture && uvs ? cornerValues(uvs, block, 2) : null;
      // v counts upwards in OBJ.
      if (image) rows(image, 2, "vt", lines, (value, k) => (k === 0 ? value : 1 - value).toFixed(6));
      for (let i = 0; i < block.length; i += 1, corner += 3) {
        const words = [0, 1, 2].map((k) => `${corner + k}/${image ? textured + k : ""}/${corner + k}`);
        if (image) textured += 3;
        lines.push(`f ${words.join(" ")}`);
      }
      yield `${lines.join("\n")}\n`;
    }
  }
}

/** Adds a line per `size` numbers. */
function rows(
  values: Float32Array,
  size: number,
  keyword: string,
  lines: string[],
  text: (value: number, k: number) => string,
): void {
  for (let i = 0; i < values.length; i += size) {
    const words = Array.from({ length: size }, (_, k) => text(values[i + k] ?? 0, k));
    lines.push(`${keyword} ${words.join(" ")}`);
  }
}
