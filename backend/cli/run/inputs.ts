import { open, realpath } from "node:fs/promises";
import { extname, join, resolve } from "node:path";
import type { CreateSessionTail } from "../../../shared/contract/cloud-session/create.ts";
import { AppError } from "../../../shared/errors.ts";
import type { Triple } from "../../../shared/octree/potree2-metadata.ts";
import { createRequest, requirePoints } from "../analyze/cloud-edits.ts";
import { checkFile, type InputFile, isText, parseUnits, type ReadingOptions } from "../analyze/options.ts";
import { type Look, lookAt } from "../analyze/source-units.ts";
import { parseUp, turnedUp } from "../analyze/up.ts";
import type { WorldMesh } from "../meshes/mesh.ts";
import { type FolderRun, shown } from "./folder-run.ts";

/** A positive number of metres. Errors: invalid_argument. */
export function parseMetres(option: string, text: string): number {
  const metres = text.trim() === "" ? Number.NaN : Number(text);
  if (!(metres > 0 && Number.isFinite(metres)))
    throw new AppError("invalid_argument", `${option} "${text}" must be a positive number of metres`);
  return metres;
}

/** Options as commander has read them. */
export interface RawReading {
  readonly units?: string;
  readonly up?: string;
  readonly columns?: string;
}

export const checkedReading = ({ units, up, columns }: RawReading): ReadingOptions => ({
  units: units === undefined ? undefined : parseUnits(units),
  up: up === undefined ? undefined : parseUp(up),
  shift: undefined,
  columns,
});

/** A file of points, or one of triangles. */
export interface Input extends InputFile {
  readonly kind: "cloud" | "mesh";
}

export interface CloudPart {
  readonly kind: "cloud";
  readonly file: Input;
  readonly tail: CreateSessionTail;
  readonly look: Look;
  readonly warnings: readonly string[];
}
export interface MeshPart {
  readonly kind: "mesh";
  readonly file: Input;
  readonly mesh: WorldMesh;
  readonly warnings: readonly string[];
}
export type Part = CloudPart | MeshPart;

/** Bytes of a PLY file in which its header ends. */
const PLY_HEAD_BYTES = 1 << 16;
/** Beyond this, float32 is coarser than 0.1 mm: vertices are then read relative to a place near them. */
const NEAR_M = 1024;

/** Files of a command, before a service is started. Errors: those of checkFile; invalid_argument for --columns without text. */
export async function checkInputs(files: readonly string[], { columns }: ReadingOptions): Promise<Input[]> {
  const inputs: Input[] = [];
  for (const path of files) {
    const file = await checkFile(path, "point cloud or mesh file");
    inputs.push({ ...file, kind: await kindOf(file.path) });
  }
  if (columns !== undefined && !inputs.some(({ name }) => isText(name))) {
    throw new AppError(
      "invalid_argument",
      "--columns names the columns of a text file, and no file is one; leave it out",
    );
  }
  return inputs;
}

/** Errors: invalid_argument for a file of the other kind. */
export function requireKind({ kind, name }: Input, wanted: Input["kind"], place: string): void {
  if (kind === wanted) return;
  const names = { cloud: "a point cloud", mesh: "a mesh (OBJ, STL, or PLY with faces)" };
  if (/\.gl(b|tf)$/i.test(name)) {
    throw new AppError("invalid_argument", `${place} must be ${names[wanted]}; glTF is written, not read: "${name}"`);
  }
  throw new AppError("invalid_argument", `${place} must be ${names[wanted]}; "${name}" is ${names[kind]}`);
}

/** Errors: invalid_argument if `name` in the output folder is a file that the run reads. */
export async function refuseReplacing(out: string, name: string, inputs: readonly Input[]): Promise<void> {
  const existing = await realpath(join(resolve(out), name)).catch(() => undefined);
  if (existing === undefined || !inputs.some(({ path }) => path === existing)) return;
  throw new AppError(
    "invalid_argument",
    `"${existing}" would be replaced by a result of this run; choose another --out`,
  );
}

/** OBJ and STL are meshes, and so is a PLY file that declares faces. */
async function kindOf(path: string): Promise<Input["kind"]> {
  const extension = extname(path).toLowerCase();
  if (extension === ".obj" || extension === ".stl") return "mesh";
  if (extension !== ".ply") return "cloud";
  const file = await open(path);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(PLY_HEAD_BYTES), 0, PLY_HEAD_BYTES, 0);
    const [header = ""] = buffer.toString("latin1", 0, bytesRead).split("end_header");
    return /^element\s+face\s+0*[1-9]/im.test(header) ? "mesh" : "cloud";
  } finally {
    await file.close();
  }
}

/** Reads a cloud into a session, or a mesh. */
export function readPart(file: Input, reading: ReadingOptions, run: FolderRun): Promise<Part> {
  return file.kind === "cloud" ? readCloud(file, reading, run) : readMesh(file, run);
}

export async function readCloud(file: Input, reading: ReadingOptions, run: FolderRun): Promise<CloudPart> {
  run.progress.stage(`Reading ${file.name}`);
  const look = await lookAt(file.path, reading, run.client, run.signal);
  const read = await run.client.createSession(createRequest(file.path, reading, look), shown(run));
  requirePoints(read, file.path);
  const tail = await turnedUp(read, reading.up, run.client, run.signal);
  if (tail.point_count === 0)
    throw new AppError("invalid_argument", `${file.name} has no hits, only misses (sky points)`);
  return { kind: "cloud", file, tail, look, warnings: named(file, tail.warnings) };
}

export async function readMesh(file: Input, run: FolderRun): Promise<MeshPart> {
  run.progress.stage(`Reading ${file.name}`);
  const read = (shift: Triple) => run.client.importMesh({ path: file.path, world_shift: [...shift] }, shown(run));
  let frame = await read([0, 0, 0]);
  const { min, max } = frame.meta.bounds;
  if (Math.max(...min.map(Math.abs), ...max.map(Math.abs)) > NEAR_M) frame = await read(middle(min, max));
  const { meta, buffers } = frame;
  const floats = (name: string) => {
    const values = buffers.get(name);
    return values instanceof Float32Array ? values : null;
  };
  const indices = buffers.get("indices");
  const vertices = floats("vertices");
  if (!vertices || !(indices instanceof Uint32Array)) throw new Error("the answer has no vertices and indices");
  const mesh: WorldMesh = {
    origin: meta.world_shift,
    vertices,
    indices,
    normals: floats("normals"),
    colors: floats("colors"),
  };
  return { kind: "mesh", file, mesh, warnings: named(file, meta.warnings) };
}

/** The middle of a box, in whole metres. */
export function middle(min: Triple, max: Triple): Triple {
  const at = (axis: 0 | 1 | 2) => Math.round((min[axis] + max[axis]) / 2);
  return [at(0), at(1), at(2)];
}

const named = ({ name }: Input, warnings: readonly string[] = []) => warnings.map((text) => `${name}: ${text}`);

/** The facts that are needed to read a file again. */
export const inputFact = ({ path, bytes, modified }: Input): string => `${path}, ${bytes} bytes, ${modified}`;
