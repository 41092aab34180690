import { readFile, stat } from "node:fs/promises";
import { basename } from "node:path";
import type { MeshMaterial } from "../../../shared/contract/mesh.ts";
import type { LeavesRequest } from "../../../shared/contract/qsm-leaves.ts";
import { AppError } from "../../../shared/errors.ts";
import { MAX_TEXTURE_BYTES, MIB } from "../../../shared/limits.ts";
import { Base64Bytes } from "../../../shared/wire/json-values.ts";
import type { Job } from "../../jobs/job.ts";
import * as mesh from "../../native/files/mesh.ts";
import type { LeafShape } from "../../native/leaves.ts";
import { ColumnRef } from "../../sessions/column-ref.ts";
import { appearance } from "../files/mesh/appearance.ts";
import { extensionOf, sourceFile } from "../files/source.ts";
import { jpegSize, pngSize } from "./image-size.ts";
import { builtinLeafTexture } from "./leaf-textures.ts";

/** How a leaf looks. */
export interface LeafLook {
  readonly shape: LeafShape;
  readonly triangle_count: number;
  /** In the order of the shape's materials; null without textures. */
  readonly materials: readonly MeshMaterial[] | null;
  readonly textures: Readonly<Record<string, string | Base64Bytes>> | null;
  readonly warnings: readonly string[];
}

type Wanted = Pick<LeavesRequest, "obj_path" | "texture_path" | "builtin_texture_name">;

/** Width over length of leaves with a picture of unknown shape (contract skeleton-qsm 7.2). */
const DEFAULT_ASPECT = 0.6;
const LEAF_COLOR: [number, number, number] = [0.3, 0.5, 0.1];
/** Bytes of memory per byte of an OBJ file: parsed elements, triangles and their columns. */
const BYTES_PER_OBJ_BYTE = 12;

const refused = (message: string) => new AppError("invalid_argument", message);

/** What a leaf needs in memory besides its placed copies, bytes. Errors: those of leafLook for missing files. */
export async function leafLookBytes({ obj_path }: Wanted): Promise<number> {
  if (!obj_path) return 4 * MAX_TEXTURE_BYTES;
  return BYTES_PER_OBJ_BYTE * (await stat(await sourceFile(obj_path))).size + 4 * MAX_TEXTURE_BYTES;
}

/**
 * The look that a request names: obj_path before texture_path before builtin_texture_name. The run owns its columns.
 * Errors: invalid_argument, not_found, invalid_file.
 */
export async function leafLook(request: Wanted, job: Job): Promise<LeafLook> {
  if (request.obj_path) return objLook(request.obj_path, job);
  if (request.texture_path) return pictureLook(request.texture_path);
  if (!request.builtin_texture_name) {
    throw refused("No look of the leaves is given: send obj_path, texture_path or builtin_texture_name.");
  }
  const bytes = Buffer.from(await builtinLeafTexture(request.builtin_texture_name));
  return quadLook(request.builtin_texture_name, bytes, pngSize(bytes));
}

async function pictureLook(written: string): Promise<LeafLook> {
  const path = await sourceFile(written);
  const extension = extensionOf(path);
  if (![".png", ".jpg", ".jpeg"].includes(extension)) {
    throw refused(`${basename(path)}: the extension "${extension}" is no picture of a leaf; use .png or .jpg`);
  }
  const { size } = await stat(path);
  if (size > MAX_TEXTURE_BYTES) {
    throw refused(`${basename(path)} has ${size} bytes, more than the ${MAX_TEXTURE_BYTES / MIB} MiB of a texture`);
  }
  const bytes = await readFile(path);
  const found = pngSize(bytes) ?? jpegSize(bytes);
  if (!found) throw new AppError("invalid_file", `${basename(path)} is neither a PNG nor a JPEG picture`);
  return quadLook(basename(path), bytes, pngSize(bytes));
}

/** Rectangles with a picture. Only a PNG tells their shape (contract skeleton-qsm 7.2). */
function quadLook(name: string, bytes: Buffer, size: { width: number; height: number } | null): LeafLook {
  const aspect = size ? Math.min(size.width, size.height) / Math.max(size.width, size.height) : DEFAULT_ASPECT;
  return {
    shape: { aspect },
    triangle_count: 2,
    materials: [{ name: "leaf", color: LEAF_COLOR, texture_name: name, has_alpha: size !== null }],
    textures: { [name]: new Base64Bytes(bytes) },
    warnings: [],
  };
}

async function objLook(written: string, job: Job): Promise<LeafLook> {
  const path = await sourceFile(written);
  const extension = extensionOf(path);
  if (extension !== ".obj")
    throw refused(`${basename(path)}: the extension "${extension}" is no mesh of a leaf; use .obj`);
  const part = job.quiet();
  const file = await part.track(() => mesh.readObj(path, [0, 0, 0]));
  const adopt = (column: mesh.NativeMeshFile["vertices"]) => job.adopt(new ColumnRef(column));
  const vertices = adopt(file.vertices);
  const normals = adopt(file.normals);
  const [colors, uvs, material] = [file.colors, file.uvs, file.triangle_material].map((one) => one && adopt(one));
  adopt(file.indices);
  const triangle_count = vertices.length / 9;
  if (triangle_count === 0) throw new AppError("invalid_file", `${basename(path)} has no triangles`);
  const looks = material ? await appearance(path, file, material, colors ?? null, part) : null;
  const textured = looks?.textures && looks.materials && uvs && material ? { looks, uvs, material } : null;
  const shape = {
    vertices: vertices.native,
    normals: normals.native,
    uvs: textured?.uvs.native ?? null,
    material: textured?.material.native ?? null,
  };
  const warnings = [...file.warnings, ...(looks?.warnings ?? [])];
  if (looks?.textures && !uvs) warnings.push("The mesh of the leaf has textures but no texture coordinates.");
  const materials = textured ? textured.looks.materials : null;
  return { shape, triangle_count, materials, textures: textured ? textured.looks.textures : null, warnings };
}
