import { open } from "node:fs/promises";
import type { Triple } from "../../../shared/octree/potree2-metadata.ts";
import { glbFile } from "./glb.ts";
import type { MeshParts, WorldMesh } from "./mesh.ts";
import { objParts } from "./obj.ts";
import { plyParts } from "./ply.ts";
import { stlParts } from "./stl.ts";

export const MESH_FORMATS = ["ply", "glb", "obj", "stl"] as const;
export type MeshFormat = (typeof MESH_FORMATS)[number];

/** What the file does not say itself. */
export interface WrittenMesh {
  /** Added to the coordinates of the file, it gives true world coordinates, metres; null = they are that already. */
  readonly file_shift: Triple | null;
  readonly warnings: readonly string[];
}

/** Formats whose coordinates have 24 bits. */
const NARROW: ReadonlySet<MeshFormat> = new Set(["glb", "stl"]);
/** Beyond this, float32 is coarser than 0.1 mm. */
const NARROW_LIMIT_M = 1024;

/** Writes a mesh to a new file. Coordinates keep their digits: formats with 24 bits get them relative to `file_shift`. */
export async function writeMesh(
  mesh: WorldMesh,
  format: MeshFormat,
  path: string,
  signal: AbortSignal,
): Promise<WrittenMesh> {
  const file_shift = NARROW.has(format) && reach(mesh) > NARROW_LIMIT_M ? mesh.origin : null;
  const parts = await partsOf(mesh, format, file_shift);
  const file = await open(path, "wx");
  try {
    for (const part of parts) {
      signal.throwIfAborted();
      await file.writeFile(part);
    }
  } finally {
    await file.close();
  }
  const warnings = file_shift ? [shiftWarning(format, file_shift)] : [];
  return { file_shift, warnings };
}

const partsOf = async (mesh: WorldMesh, format: MeshFormat, shift: Triple | null): Promise<MeshParts> => {
  if (format === "ply") return plyParts(mesh);
  if (format === "obj") return objParts(mesh);
  if (format === "stl") return stlParts(mesh, shift);
  return [await glbFile(mesh, shift)];
};

const shiftWarning = (format: MeshFormat, shift: Triple) =>
  `${format.toUpperCase()} stores 24 bits per coordinate, too few for places this far from the origin. The coordinates in the file are relative to ${shift.join(", ")} m: add these to get true world coordinates.`;

/** Largest absolute true world coordinate. */
function reach({ origin, vertices }: WorldMesh): number {
  let most = 0;
  for (let i = 0; i < vertices.length; i += 1)
    most = Math.max(most, Math.abs((vertices[i] ?? 0) + (origin[i % 3] ?? 0)));
  return most;
}
