import { stat } from "node:fs/promises";
import { basename } from "node:path";
import type { MeshImportFailure, MeshImportRequest, MeshImportSuccess } from "../../../../shared/contract/mesh.ts";
import { AppError } from "../../../../shared/errors.ts";
import { MAX_MESH_HEADER_LINES } from "../../../../shared/limits.ts";
import type { Deps } from "../../../deps.ts";
import type { Job } from "../../../jobs/job.ts";
import { fromNative } from "../../../jobs/native-error.ts";
import type { NativeColumn } from "../../../native/core/handles.ts";
import * as native from "../../../native/files/mesh.ts";
import { readPlyHeader } from "../../../native/files/readers.ts";
import type { Triple } from "../../../sessions/column-names.ts";
import { ColumnRef } from "../../../sessions/column-ref.ts";
import { coarseCoordinates, shiftOf } from "../../run/float-steps.ts";
import { unknownKeyWarnings } from "../../run/unknown-keys.ts";
import { extensionOf, sourceFile } from "../source.ts";
import { UNIT_NAMES, unitOfFile } from "../stated-unit.ts";
import { appearance } from "./appearance.ts";

/** Formats of mesh files, by their extension. */
type MeshKind = "obj" | "ply" | "stl";

/** A file that exists and has the header of a mesh. */
export interface CheckedMeshImport {
  readonly path: string;
  readonly kind: MeshKind;
  readonly shift: Triple;
  readonly unknown_keys: readonly string[];
}

export interface MeshFrame {
  readonly meta: MeshImportSuccess | MeshImportFailure;
  readonly buffers: Readonly<
    Record<string, { readonly dtype: "f32" | "u32"; readonly length: number; readonly data: ColumnRef }>
  >;
}

/** Bytes of memory that an import needs per byte of its file: parsed elements, triangles and their buffers. */
const BYTES_PER_FILE_BYTE = { obj: 12, ply: 8, stl: 8 } as const;

const READERS = { obj: native.readObj, ply: native.readPlyMesh, stl: native.readStl } as const;

/** Errors: not_found; invalid_argument, invalid_file for another format, a PLY file without faces and a wrong shift. */
export async function checkMeshImport(
  { path: written, world_shift }: MeshImportRequest,
  unknown_keys: readonly string[],
): Promise<CheckedMeshImport> {
  const path = await sourceFile(written);
  const extension = extensionOf(path);
  const kind = (["obj", "ply", "stl"] as const).find((known) => extension === `.${known}`);
  if (!kind) {
    throw new AppError(
      "invalid_argument",
      `${basename(path)}: the extension "${extension}" is not a mesh format; use .obj, .ply or .stl`,
    );
  }
  const shift = shiftOf(world_shift);
  if (!shift) throw new AppError("invalid_argument", "world_shift must be three finite numbers");
  if (kind === "ply") await checkPlyFaces(path);
  return { path, kind, shift, unknown_keys };
}

async function checkPlyFaces(path: string): Promise<void> {
  const header = await readPlyHeader(path, 0).promise.catch((error: unknown) => {
    throw fromNative(error);
  });
  if (header.line_count > MAX_MESH_HEADER_LINES) {
    throw new AppError(
      "invalid_argument",
      `${basename(path)}: the PLY header has ${header.line_count} lines, more than ${MAX_MESH_HEADER_LINES}`,
    );
  }
  const face = header.elements.find(({ name }) => name.toLowerCase() === "face");
  if (face && face.count > 0) return;
  throw new AppError(
    "invalid_argument",
    `${basename(path)}: no faces were found; the file looks like a point cloud. Import it as a cloud.`,
  );
}

/** Triangles of a mesh file. A failure is reported in the frame; a cancel is thrown. */
export async function importMesh(checked: CheckedMeshImport, deps: Deps, job: Job): Promise<MeshFrame> {
  const { path, kind, unknown_keys } = checked;
  const named = unknownKeyWarnings(unknown_keys);
  const filename = basename(path);
  try {
    const bytes = (await stat(path)).size * BYTES_PER_FILE_BYTE[kind];
    const { meta, buffers } = await deps.admission.run(job, "Mesh import", bytes, () => read(checked, job));
    const warnings = [...named, ...(meta.warnings ?? [])];
    return { meta: { ...meta, ...(warnings.length > 0 ? { warnings } : {}) }, buffers };
  } catch (raw) {
    if (job.canceled) throw raw;
    const { code, message: error } = fromNative(raw);
    const warnings = named.length > 0 ? { warnings: [...named] } : {};
    return {
      meta: { success: false, error, code, filename, vertex_count: 0, triangle_count: 0, ...warnings },
      buffers: {},
    };
  }
}

const PHASES = [
  { name: "Reading mesh", weight: 5 },
  { name: "Joining faces", weight: 1 },
  { name: "Reading points", weight: 2 },
  { name: "Reading faces", weight: 2 },
  { name: "Triangulating faces", weight: 2 },
  { name: "Computing normals", weight: 1 },
  { name: "Packing triangles", weight: 2 },
];

async function read({ path, kind, shift }: CheckedMeshImport, job: Job): Promise<MeshFrame> {
  job.stage("Reading mesh", 0.05, kind === "obj" ? 0.6 : 0.9, PHASES);
  const file = await job.track(() => READERS[kind](path, shift));
  const adopt = (column: NativeColumn | null) => column && job.adopt(new ColumnRef(column));
  const columns = {
    vertices: job.adopt(new ColumnRef(file.vertices)),
    indices: job.adopt(new ColumnRef(file.indices)),
    normals: job.adopt(new ColumnRef(file.normals)),
    colors: adopt(file.colors),
    uvs: adopt(file.uvs),
    triangle_material: adopt(file.triangle_material),
  };
  const { bounds } = file;
  const triangle_count = columns.indices.length / 3;
  if (triangle_count === 0 || !bounds) {
    throw new AppError("invalid_file", `No triangles found in ${path}${file.warnings.map((w) => `; ${w}`).join("")}`);
  }
  const { triangle_material } = columns;
  const looks =
    kind === "obj" && triangle_material ? await appearance(path, file, triangle_material, columns.colors, job) : null;
  job.stage("Packing geometry", 0.9, 1);
  const has_textures = looks !== null && looks.textures !== null && columns.uvs !== null;
  const stated = await otherUnit(path, kind);
  const own = [...stated, ...file.warnings, ...shapeWarnings(file)];
  const warnings = [...own, ...(looks?.warnings ?? []), ...coarse(bounds)];
  if (looks?.textures && !columns.uvs) warnings.push("The mesh has textures but no texture coordinates.");
  const meta: MeshImportSuccess = {
    success: true,
    error: null,
    filename: basename(path),
    vertex_count: columns.vertices.length / 3,
    triangle_count,
    materials: looks?.materials ?? null,
    material_groups: looks?.groups ?? null,
    textures: looks?.textures ?? null,
    has_textures,
    bounds: { min: [...bounds.min], max: [...bounds.max] },
    world_shift: [...shift],
    ...(warnings.length > 0 ? { warnings } : {}),
  };
  const colors = looks?.colors ?? columns.colors;
  const buffers: Record<string, MeshFrame["buffers"][string]> = {
    vertices: buffer(columns.vertices, "f32"),
    indices: buffer(columns.indices, "u32"),
    normals: buffer(columns.normals, "f32"),
    ...(colors ? { colors: buffer(colors, "f32") } : {}),
    ...(has_textures && columns.uvs ? { uv_coordinates: buffer(columns.uvs, "f32") } : {}),
    ...(looks?.materials && triangle_material ? { triangle_materials: buffer(triangle_material, "u32") } : {}),
  };
  return { meta, buffers };
}

const buffer = (data: ColumnRef, dtype: "f32" | "u32") => ({ dtype, length: data.length, data });

/** Meshes are read as metres. */
async function otherUnit(path: string, kind: MeshKind): Promise<string[]> {
  const unit = await unitOfFile(path, kind);
  if (unit === null || unit === "m") return [];
  return [`The file states that its unit is ${UNIT_NAMES[unit]}; meshes are read as metres: scale it first.`];
}

/** What the triangles of a file are like, where that is not as usual. */
function shapeWarnings(file: native.NativeMeshFile): string[] {
  const told = (count: number, text: string) => (count > 0 ? [`${count} ${text}`] : []);
  return [
    ...told(file.skipped_count, "triangles have a vertex that is missing or not finite and were left out."),
    ...told(file.flat_face_count, "polygons enclose no area: they were cut from their first corner."),
    ...told(file.crossing_face_count, "polygons cross themselves: their triangles may overlap."),
    ...told(file.flat_count, "triangles have no area."),
  ];
}

/** Large coordinates lose digits in the float32 buffers. */
const coarse = ({ min, max }: NonNullable<native.NativeMeshFile["bounds"]>): string[] =>
  coarseCoordinates(Math.max(...min.map(Math.abs), ...max.map(Math.abs)));
