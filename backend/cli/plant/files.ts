import { lstat, open } from "node:fs/promises";
import { basename, dirname, extname, join } from "node:path";
import { AppError } from "../../../shared/errors.ts";
import { plyParts } from "../meshes/ply.ts";
import { paintedColors, type TexturedMesh, textureParts } from "../meshes/textured.ts";
import { texturedGlb } from "../meshes/textured-glb.ts";
import { type NamedParts, texturedObj } from "../meshes/textured-obj.ts";
import type { FolderRun } from "../run/folder-run.ts";
import type { PlantFormat, PlantOptions } from "./options.ts";

/** Where the organ codes of the contract are in a file. */
export const ORGANS: Readonly<Record<PlantFormat, string>> = {
  ply: "property organ of each face",
  glb: "left out: only PLY has them",
  obj: "left out: only PLY has them",
};

/** Errors: invalid_argument for an output that exists, without --force, or that is no file. */
export async function checkTargets({ file, picture, force }: PlantOptions): Promise<void> {
  await checkTarget("--out", file, force);
  if (picture !== null) await checkTarget("--picture", picture, force);
}

async function checkTarget(option: string, file: string, force: boolean): Promise<void> {
  const found = await lstat(file).catch(() => undefined);
  if (!found) return;
  const refused = (why: string) => new AppError("invalid_argument", `${option} "${file}" ${why}`);
  if (!found.isFile()) throw refused("is not a file; choose another name");
  if (!force) throw refused("exists; choose another name, or replace it with --force");
}

/** Writes the mesh with the files that belong to it; returns their names. Errors: invalid_argument as checkTargets. */
export async function writeFiles(
  mesh: TexturedMesh,
  { file, format, picture, force }: PlantOptions,
  { out, signal }: FolderRun,
): Promise<string[]> {
  const files = await filesOf(mesh, format, basename(file));
  for (const { name } of files) {
    const path = join(dirname(file), name);
    if (path === picture)
      throw new AppError("invalid_argument", `--picture "${name}" is the name of a texture; choose another`);
    await checkTarget("--out: the file", path, force);
  }
  for (const { name, parts } of files) {
    const handle = await open(out.stage(name), "wx");
    try {
      for (const part of parts) {
        signal.throwIfAborted();
        await handle.writeFile(part);
      }
    } finally {
      await handle.close();
    }
  }
  return files.map(({ name }) => name);
}

async function filesOf(mesh: TexturedMesh, format: PlantFormat, name: string): Promise<NamedParts[]> {
  const base = basename(name, extname(name)).replaceAll(/[^A-Za-z0-9._-]/g, "_");
  if (format === "obj") return texturedObj(mesh, name, base);
  if (format === "glb") return [{ name, parts: [await texturedGlb(mesh, base)] }];
  return [{ name, parts: plyParts({ ...mesh, colors: paintedColors(mesh) }, mesh.organ_codes) }];
}

/** What a format does not keep. */
export function formatWarnings(mesh: TexturedMesh, format: PlantFormat): string[] {
  if (format !== "ply" || !textureParts(mesh).some(({ texture }) => texture)) return [];
  return [
    "PLY has no textures: leaves have the mean colour of their texture, and its holes are filled. Use .glb or .obj to keep them.",
  ];
}
