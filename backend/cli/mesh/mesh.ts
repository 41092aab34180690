import { realpath, stat } from "node:fs/promises";
import { basename } from "node:path";
import type { TriangulateSuccess } from "../../../shared/contract/triangulate.ts";
import { AppError } from "../../../shared/errors.ts";
import { jsonDocument } from "../analyze/json-document.ts";
import { describeVersions } from "../analyze/record.ts";
import type { AnalyzeDeps } from "../analyze/run.ts";
import { Stopwatch } from "../analyze/stopwatch.ts";
import type { WorldMesh } from "../meshes/mesh.ts";
import { meshShape } from "../meshes/shape.ts";
import { writeMesh } from "../meshes/write.ts";
import { terminalTable } from "../report/terminal.ts";
import { type FolderRun, runInFolder, shown } from "../run/folder-run.ts";
import { type CloudPart, checkInputs, type Input, middle, readCloud, requireKind } from "../run/inputs.ts";
import type { MeshOptions } from "./options.ts";
import { meshFigures } from "./pictures.ts";
import { shapeWarnings, writeResults } from "./results.ts";

/** A mesh of a cloud, with the answer of the service. */
export interface MadeMesh {
  readonly mesh: WorldMesh;
  readonly answer: TriangulateSuccess;
}

/**
 * Makes a mesh of a cloud and writes it with pictures and a report, all of them or, after a cancel or failure, none.
 * Errors: those of the options, the file and the client; invalid_argument for a mesh file that is there already.
 */
export async function makeMesh(cloud: string, options: MeshOptions, deps: AnalyzeDeps): Promise<void> {
  const [input] = (await checkInputs([cloud], options.reading)) as [Input];
  requireKind(input, "cloud", "<cloud>");
  await checkTarget(input, options);
  await runInFolder(options, deps, async (run) => {
    const clock = new Stopwatch();
    const points = await readCloud(input, options.reading, run);
    clock.lap("import");
    const made = await triangulated(points, options, run);
    clock.lap("mesh");
    const { progress, signal, out, client } = run;
    progress.stage("Drawing pictures");
    const shape = meshShape(made.mesh);
    const figures = await meshFigures(made.mesh, options.pictureSize, run);
    clock.lap("draw");
    progress.stage("Writing the mesh");
    const written = await writeMesh(made.mesh, options.format, out.stageElsewhere(options.file), signal);
    clock.lap("write");
    const warnings = [
      ...points.warnings,
      ...(made.answer.warnings ?? []),
      ...shapeWarnings(shape, options.method),
      ...written.warnings,
    ];
    const found = { points, answer: made.answer, shape, file_shift: written.file_shift, warnings };
    const result = await writeResults(found, figures, options, run, {
      versions: await describeVersions(client, signal),
      seconds: clock.seconds(),
    });
    deps.stdout.write(
      options.json ? jsonDocument(result.document) : terminalTable(result.facts, result.document.warnings),
    );
  });
}

/** Errors: invalid_argument if the mesh file exists, or is the cloud itself. */
async function checkTarget(input: Input, { file, force }: MeshOptions): Promise<void> {
  const found = await stat(file).catch(() => undefined);
  if (!found) return;
  const refused = (why: string) => new AppError("invalid_argument", `--out "${file}" ${why}`);
  if (!found.isFile()) throw refused("is not a file; choose another name");
  if ((await realpath(file)) === input.path) throw refused("is the cloud itself; choose another name");
  if (!force) throw refused("exists; choose another name, or replace it with --force");
}

async function triangulated({ tail, file }: CloudPart, options: MeshOptions, run: FolderRun): Promise<MadeMesh> {
  run.progress.stage("Making the mesh");
  const { tight_bounds: box, world_shift } = tail;
  if (!box) throw new AppError("invalid_argument", `${file.name} has no points to mesh`);
  const [x, y, z] = middle(box.min, box.max);
  const shift = [x + (world_shift?.[0] ?? 0), y + (world_shift?.[1] ?? 0), z + (world_shift?.[2] ?? 0)];
  const { meta, buffers } = await run.client.triangulate(
    { source: { session_id: tail.session_id }, method: options.method, ...options.tuning, world_shift: shift },
    shown(run),
  );
  const [vertices, indices, normals] = ["vertices", "indices", "normals"].map((name) => buffers.get(name));
  if (!(vertices instanceof Float32Array) || !(indices instanceof Uint32Array))
    throw new Error("the answer has no vertices and indices");
  if (indices.length === 0)
    throw new AppError("invalid_argument", `${basename(file.path)}: the method ${options.method} found no triangles`);
  const mesh: WorldMesh = {
    origin: meta.world_shift,
    vertices,
    indices,
    normals: normals instanceof Float32Array ? normals : null,
    colors: null,
  };
  return { mesh, answer: meta };
}
