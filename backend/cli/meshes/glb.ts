import type { Triple } from "../../../shared/octree/potree2-metadata.ts";
import type { WorldMesh } from "./mesh.ts";

/**
 * A binary glTF 2.0 file. Its y axis points upwards as the format demands: the node turns z upwards to it. Positions are
 * true world coordinates minus the shift, which is also in `extras` of the node.
 */
export async function glbFile(mesh: WorldMesh, shift: Triple | null): Promise<Uint8Array> {
  const { Document, NodeIO } = await import("@gltf-transform/core");
  const { origin, vertices, indices, normals, colors } = mesh;
  const offset = origin.map((value, k) => value - (shift?.[k] ?? 0));
  const document = new Document();
  const buffer = document.createBuffer();
  const accessor = (type: "VEC3" | "SCALAR", values: Float32Array | Uint32Array) =>
    document
      .createAccessor()
      .setBuffer(buffer)
      .setType(type)
      .setArray(values as Float32Array<ArrayBuffer>);
  const material = document.createMaterial("surface").setDoubleSided(true).setMetallicFactor(0).setRoughnessFactor(0.9);
  const primitive = document
    .createPrimitive()
    .setMaterial(material)
    .setAttribute(
      "POSITION",
      accessor(
        "VEC3",
        vertices.map((value, i) => value + (offset[i % 3] ?? 0)),
      ),
    )
    .setIndices(accessor("SCALAR", indices));
  if (normals) primitive.setAttribute("NORMAL", accessor("VEC3", normals));
  if (colors) primitive.setAttribute("COLOR_0", accessor("VEC3", colors.map(linear)));
  const node = document
    .createNode("surface")
    .setMesh(document.createMesh("surface").addPrimitive(primitive))
    .setRotation([-Math.SQRT1_2, 0, 0, Math.SQRT1_2]);
  if (shift) node.setExtras({ world_shift: [...shift] });
  document.createScene("scene").addChild(node);
  return new NodeIO().writeBinary(document);
}

/** Colours of vertices are linear in glTF. */
export const linear = (value: number): number => {
  const srgb = Number.isNaN(value) ? 0.8 : value;
  return srgb <= 0.04045 ? srgb / 12.92 : ((srgb + 0.055) / 1.055) ** 2.4;
};
