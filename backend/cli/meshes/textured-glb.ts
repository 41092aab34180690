import type { Triple } from "../../../shared/octree/potree2-metadata.ts";
import { linear } from "./glb.ts";
import { cornerValues, type TexturedMesh, textureParts } from "./textured.ts";

/**
 * A binary glTF 2.0 file with its textures inside: one primitive and material per texture, and one with colours of vertices for
 * the triangles without. Its y axis points upwards as the format demands: the node turns z upwards to it. `world_shift`:
 * the true world position of the mesh's zero, metres; kept in `extras` of the node.
 */
export async function texturedGlb(mesh: TexturedMesh, name: string, world_shift?: Triple): Promise<Uint8Array> {
  const { Document, NodeIO } = await import("@gltf-transform/core");
  const { origin, vertices, normals, colors, uvs } = mesh;
  const document = new Document();
  const buffer = document.createBuffer();
  const accessor = (type: "VEC2" | "VEC3", values: Float32Array<ArrayBuffer>) =>
    document.createAccessor().setBuffer(buffer).setType(type).setArray(values);
  const surface = document.createMesh(name);
  for (const { texture, triangles } of textureParts(mesh)) {
    const material = document
      .createMaterial(texture?.name ?? "colors")
      .setDoubleSided(true)
      .setMetallicFactor(0)
      .setRoughnessFactor(0.9);
    const places = cornerValues(vertices, triangles, 3).map((value, i) => value + (origin[i % 3] ?? 0));
    const primitive = document
      .createPrimitive()
      .setMaterial(material)
      .setAttribute("POSITION", accessor("VEC3", places))
      .setAttribute("NORMAL", accessor("VEC3", cornerValues(normals, triangles, 3)));
    if (texture && uvs) {
      const image = document.createTexture(texture.name).setMimeType("image/png").setImage(new Uint8Array(texture.png));
      material.setBaseColorTexture(image).setAlphaMode("MASK").setAlphaCutoff(0.5);
      primitive.setAttribute("TEXCOORD_0", accessor("VEC2", cornerValues(uvs, triangles, 2)));
    } else {
      // Not beside a texture: readers multiply the two.
      primitive.setAttribute("COLOR_0", accessor("VEC3", cornerValues(colors, triangles, 3).map(linear)));
    }
    surface.addPrimitive(primitive);
  }
  const node = document.createNode(name).setMesh(surface).setRotation([-Math.SQRT1_2, 0, 0, Math.SQRT1_2]);
  if (world_shift) node.setExtras({ world_shift: [...world_shift] });
  document.createScene("scene").addChild(node);
  return new NodeIO().writeBinary(document);
}
