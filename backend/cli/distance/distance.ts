import { basename, extname } from "node:path";
import type { DistanceSuccess } from "../../../shared/contract/c2m.ts";
import type { Triple } from "../../../shared/octree/potree2-metadata.ts";
import { scalarNames, WITH_COLUMNS } from "../analyze/cloud-copy.ts";
import { jsonDocument } from "../analyze/json-document.ts";
import { describeVersions } from "../analyze/record.ts";
import type { AnalyzeDeps } from "../analyze/run.ts";
import { Stopwatch } from "../analyze/stopwatch.ts";
import { terminalTable } from "../report/terminal.ts";
import { type FolderRun, runInFolder, shown } from "../run/folder-run.ts";
import {
  type CloudPart,
  checkInputs,
  type Input,
  type MeshPart,
  readCloud,
  readMesh,
  refuseReplacing,
  requireKind,
} from "../run/inputs.ts";
import { cloudSample } from "../run/samples.ts";
import { COLUMN_FORMATS, type ColumnFormat, type DistanceOptions } from "./options.ts";
import { distanceFigures, histogramFigure } from "./pictures.ts";
import { distanceFacts, type MeasuredCloud, writeResults } from "./results.ts";

/** The scalar column with the distances. */
const COLUMN = "mesh_distance";

/**
 * Measures the distances from a cloud to a mesh and writes statistics, pictures, report and the cloud with a column of the
 * distances, all of them or, after a cancel or failure, none. Errors: those of the options, the files and the client.
 */
export async function distance(
  cloud: string,
  mesh: string,
  options: DistanceOptions,
  deps: AnalyzeDeps,
): Promise<void> {
  const [first, second] = (await checkInputs([cloud, mesh], options.reading)) as [Input, Input];
  requireKind(first, "cloud", "<cloud>");
  requireKind(second, "mesh", "<mesh>");
  const copy = copyOf(first, options.format);
  await refuseReplacing(options.out, copy.name, [first, second]);
  await runInFolder(options, deps, async (run) => {
    const clock = new Stopwatch();
    const surface = await readMesh(second, run);
    const points = await readCloud(first, options.reading, run);
    clock.lap("import");
    const answer = await measure(points, surface, options, run);
    clock.lap("measure");
    const { client, progress, signal } = run;
    progress.stage("Drawing pictures");
    const octree = await client.rebuildOctree(points.tail.session_id, { signal });
    const sample = await cloudSample({ ...points.tail, ...octree }, client, {
      budget: options.points,
      signal,
      value: COLUMN,
    });
    const isSigned = answer.sign_defined === true;
    const figures = [
      ...(await distanceFigures(sample, isSigned, answer.percentile_99, options.pictureSize, run)),
      await histogramFigure(sample, answer),
    ];
    clock.lap("draw");
    const written = await writeCloud(points, copy, run);
    clock.lap("copy");
    const results = await writeResults({ points, surface, answer, copy: written }, figures, options, run, {
      versions: await describeVersions(client, signal),
      seconds: clock.seconds(),
    });
    const facts = [...distanceFacts({ points, surface, answer }), ...results.outputs];
    deps.stdout.write(options.json ? jsonDocument(results.document) : terminalTable(facts, results.document.warnings));
  });
}

function measure(
  { tail }: CloudPart,
  { mesh }: MeshPart,
  { signed, bands }: DistanceOptions,
  run: FolderRun,
): Promise<DistanceSuccess> {
  run.progress.stage("Measuring distances");
  const back = mesh.origin.map((value) => -value) as unknown as Triple;
  return run.client.meshDistance(
    {
      source: { session_id: tail.session_id, translation: [...back] },
      mesh_vertices: mesh.vertices,
      mesh_indices: mesh.indices,
      signed,
      bands_m: [...bands],
      write_column: true,
    },
    shown(run),
  );
}

/** The cloud that is written: in its own format if that has columns, else in LAS. */
function copyOf({ name }: Input, asked: ColumnFormat | undefined): MeasuredCloud {
  const own = extname(name).slice(1).toLowerCase();
  const format = asked ?? COLUMN_FORMATS.find((known) => known === own) ?? "las";
  const changed =
    asked === undefined && format !== own
      ? [`${own.toUpperCase()} files are not written with a column of distances: the cloud is ${format.toUpperCase()}.`]
      : [];
  return { name: `${basename(name, extname(name))}_distances.${format}`, format, warnings: changed };
}

async function writeCloud({ tail }: CloudPart, copy: MeasuredCloud, run: FolderRun): Promise<MeasuredCloud> {
  run.progress.stage("Writing the cloud");
  const { name, format } = copy;
  const columns = WITH_COLUMNS.has(format) ? [...scalarNames(tail).filter((slug) => slug !== COLUMN), COLUMN] : null;
  const source = { session_id: tail.session_id };
  const done = await run.client.exportCloud({ source, format, dest_path: run.out.stage(name), columns }, shown(run));
  return { ...copy, warnings: [...copy.warnings, ...(done.warnings ?? [])] };
}
