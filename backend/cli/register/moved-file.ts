import { basename, extname } from "node:path";
import { AppError } from "../../../shared/errors.ts";
import { scalarNames, WITH_COLUMNS } from "../analyze/cloud-copy.ts";
import { COPY_FORMATS, type CopyFormat } from "../analyze/options.ts";
import { type Motion, movedMesh } from "../meshes/mesh.ts";
import { moveObj } from "../meshes/move-obj.ts";
import { MESH_FORMATS, type MeshFormat, writeMesh } from "../meshes/write.ts";
import { type FolderRun, shown } from "../run/folder-run.ts";
import type { CloudPart, Input, MeshPart, Part } from "../run/inputs.ts";

export interface MovedFile {
  readonly name: string;
  readonly format: CopyFormat | MeshFormat;
  /** Added to the coordinates of the file, it gives true world coordinates; null = they are that already. */
  readonly file_shift: readonly number[] | null;
  readonly warnings: readonly string[];
}

/** Formats that state a coordinate system. */
export const STATES_SYSTEM: ReadonlySet<string> = new Set(["las", "laz"]);

/** Formats that are read and not written, and what is written instead. */
const INSTEAD: Readonly<Record<string, CopyFormat>> = { tsv: "csv" };

/** Format of the moved file. Errors: invalid_argument for one that its kind cannot be written in. */
export function movedFormat(file: Input, asked: CopyFormat | MeshFormat | undefined): CopyFormat | MeshFormat {
  const own = extname(file.name).slice(1).toLowerCase();
  const formats: readonly string[] = file.kind === "cloud" ? COPY_FORMATS : MESH_FORMATS;
  const format = asked ?? INSTEAD[own] ?? (formats.includes(own) ? own : "las");
  if (!formats.includes(format)) {
    const kind = file.kind === "cloud" ? "point cloud" : "mesh";
    throw new AppError("invalid_argument", `--format "${format}" is no format of a ${kind}: ${formats.join(", ")}`);
  }
  return format as CopyFormat | MeshFormat;
}

export const movedName = ({ name }: Input, format: string): string =>
  `${basename(name, extname(name))}_registered.${format}`;

/** Writes the moving part at its new place. */
export async function writeMoved(
  { moving, fixed }: { readonly moving: Part; readonly fixed: Part },
  matrix: Motion,
  format: CopyFormat | MeshFormat,
  run: FolderRun,
): Promise<MovedFile> {
  run.progress.stage("Writing the moved file");
  const name = movedName(moving.file, format);
  return moving.kind === "cloud"
    ? writeCloud(moving, fixed, matrix, { name, format: format as CopyFormat }, run)
    : writeTriangles(moving, matrix, { name, format: format as MeshFormat }, run);
}

async function writeCloud(
  { file, tail }: CloudPart,
  fixed: Part,
  matrix: Motion,
  { name, format }: { readonly name: string; readonly format: CopyFormat },
  run: FolderRun,
): Promise<MovedFile> {
  const { client, signal, out } = run;
  const { session_id } = tail;
  // The pictures have their points already: nobody looks at this octree.
  const posed = await client.transform(session_id, { matrix: [...matrix], octree_mode: "pose" }, { signal });
  const request = {
    source: { session_id },
    format,
    dest_path: out.stage(name),
    columns: WITH_COLUMNS.has(format) ? scalarNames(tail) : null,
    // Its coordinates are those of the fixed part now.
    ...(STATES_SYSTEM.has(format) || format === "e57"
      ? { system_of: fixed.kind === "cloud" ? fixed.tail.session_id : "none" }
      : {}),
  };
  const done = await client.exportCloud(request, shown(run));
  const own = extname(file.name).slice(1).toLowerCase();
  const changed =
    INSTEAD[own] === format
      ? [`${own.toUpperCase()} files are not written: the moved cloud is ${format.toUpperCase()}.`]
      : [];
  return {
    name,
    format,
    file_shift: null,
    warnings: [...changed, ...(posed.warnings ?? []), ...(done.warnings ?? [])],
  };
}

async function writeTriangles(
  { file, mesh }: MeshPart,
  matrix: Motion,
  { name, format }: { readonly name: string; readonly format: MeshFormat },
  { out, signal }: FolderRun,
): Promise<MovedFile> {
  const path = out.stage(name);
  const own = extname(file.name).slice(1).toLowerCase();
  if (own === "obj" && format === "obj") {
    const libraries = await moveObj(file.path, matrix, path, signal);
    const needed = `The moved OBJ file names ${libraries.join(", ")}: copy it and its images from the folder of the moving file.`;
    return { name, format, file_shift: null, warnings: libraries.length > 0 ? [needed] : [] };
  }
  const { file_shift, warnings } = await writeMesh(movedMesh(matrix, mesh), format, path, signal);
  const lost = own === "stl" ? [] : ["The moved mesh has no textures: only OBJ files keep theirs, and only as OBJ."];
  return { name, format, file_shift, warnings: [...warnings, ...(own === "obj" ? lost : [])] };
}
