import type { SkeletonResponse } from "../../../shared/contract/skeleton.ts";
import { AppError } from "../../../shared/errors.ts";
import { jsonDocument } from "../analyze/json-document.ts";
import { describeVersions } from "../analyze/record.ts";
import type { AnalyzeDeps } from "../analyze/run.ts";
import { Stopwatch } from "../analyze/stopwatch.ts";
import { plainNumber } from "../drawing/round-steps.ts";
import type { Fact } from "../report/summary.ts";
import { unitsFact } from "../report/system-text.ts";
import { terminalTable } from "../report/terminal.ts";
import { type FolderRun, runInFolder, SUMMARY_FILE, shown } from "../run/folder-run.ts";
import { type CloudPart, checkInputs, type Input, readCloud, refuseReplacing, requireKind } from "../run/inputs.ts";
import { cloudSample } from "../run/samples.ts";
import { reportedWarnings } from "../wording.ts";
import { skeletonCsv, skeletonObj, skeletonPly } from "./lines.ts";
import type { SkeletonOptions } from "./options.ts";
import { skeletonPictures } from "./pictures.ts";

const FILES = { csv: "skeleton.csv", obj: "skeleton.obj", ply: "skeleton.ply" } as const;

/**
 * Finds the skeleton of a plant and writes it with pictures, all files or, after a cancel or failure, none.
 * Errors: those of the options, the file and the client; invalid_argument for points without a skeleton.
 */
export async function skeleton(cloud: string, options: SkeletonOptions, deps: AnalyzeDeps): Promise<void> {
  const [input] = (await checkInputs([cloud], options.reading)) as [Input];
  requireKind(input, "cloud", "<cloud>");
  for (const name of [...Object.values(FILES), SUMMARY_FILE]) await refuseReplacing(options.out, name, [input]);
  await runInFolder({ ...options, guarded: SUMMARY_FILE }, deps, async (run) => {
    const { client, progress, signal } = run;
    const clock = new Stopwatch();
    const part = await readCloud(input, options.reading, run);
    clock.lap("import");
    progress.stage("Finding the skeleton");
    const source = { session_id: part.tail.session_id };
    const found = await client.extractSkeleton({ source, ...options.tuning }, shown(run));
    if (!found.success) throw new AppError("invalid_argument", found.error ?? "the points have no skeleton");
    clock.lap("skeleton");
    progress.stage("Drawing pictures");
    const sample = await cloudSample(part.tail, client, { budget: options.points, signal });
    const pictures = await skeletonPictures(sample, found, options.pictureSize, signal);
    clock.lap("draw");
    progress.stage("Writing the skeleton");
    const document = await writeFiles(part, found, pictures, options, run, {
      versions: await describeVersions(client, signal),
      seconds: clock.seconds(),
    });
    const text = options.json ? jsonDocument(document) : terminalTable(factsOf(part, found, run), document.warnings);
    deps.stdout.write(text);
  });
}

async function writeFiles(
  { file, tail, warnings }: CloudPart,
  found: SkeletonResponse,
  pictures: readonly { readonly name: string; readonly png: Uint8Array }[],
  options: SkeletonOptions,
  { out }: FolderRun,
  made: { readonly versions: Record<string, string>; readonly seconds: Record<string, number> },
) {
  await out.write(FILES.csv, skeletonCsv(found));
  await out.write(FILES.obj, skeletonObj(found));
  await out.write(FILES.ply, skeletonPly(found));
  for (const { name, png } of pictures) await out.write(`${name}.png`, png);
  const { skeleton_points, skeleton_edges, branch_orders, blocks, ...numbers } = found;
  const document = {
    cloud: { path: file.path, bytes: file.bytes, points: tail.point_count },
    skeleton: numbers,
    outputs: {
      ...Object.fromEntries(Object.entries(FILES).map(([kind, name]) => [kind, out.final(name)])),
      pictures: pictures.map(({ name }) => out.final(`${name}.png`)),
    },
    warnings: reportedWarnings([...warnings, ...found.warnings]),
    parameters: {
      ...options.tuning,
      units: options.reading.units ?? null,
      up: options.reading.up ?? null,
      columns: options.reading.columns ?? null,
      picture_size: options.pictureSize,
    },
    ...made,
  };
  await out.write(SUMMARY_FILE, jsonDocument(document));
  return document;
}

const count = (value: number) => plainNumber(value, 0);

const factsOf = (cloud: CloudPart, found: SkeletonResponse, { out }: FolderRun): Fact[] => [
  ["Cloud", cloud.file.name],
  unitsFact(cloud),
  ["Points", count(found.points_before_filtering)],
  ["Points in the skeleton's search", count(found.points_reached)],
  ["Longest link", `${plainNumber(found.search_radius, 3)} m`],
  ["Nodes", count(found.num_nodes)],
  ["Forks", count(found.num_branches)],
  ["Highest branch order", count(found.max_branch_order)],
  ["Total length", `${plainNumber(found.total_length, 2)} m`],
  ["Table", out.final(FILES.csv)],
  ["Lines", `${out.final(FILES.obj)}, ${out.final(FILES.ply)}`],
  ["Summary", out.final(SUMMARY_FILE)],
];
