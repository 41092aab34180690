import { type NativeOpenPlantMesh, type PlantMeshField, readPlantMesh } from "../native/plants/mesh.ts";
import type { Counted } from "./counted.ts";

/** One array of a mesh of plants that is computed while it is sent; takes the place of a ColumnRef in frames. */
export class PlantMeshArray {
  readonly native: { readInto(out: Uint8Array, byteOffset: number): number };

  constructor(
    readonly mesh: Counted<NativeOpenPlantMesh>,
    field: PlantMeshField,
    /** Values of 4 bytes. */
    readonly length: number,
  ) {
    this.native = { readInto: (out, byteOffset) => readPlantMesh(mesh.native, field, out, byteOffset) };
  }
  retain(): this {
    this.mesh.retain();
    return this;
  }
  release(): void {
    this.mesh.release();
  }
}
