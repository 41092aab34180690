import { basename, extname } from "node:path";
import type { SessionWoodResponse } from "../../../shared/contract/cloud-session/segment-wood.ts";
import { OctreeBlock } from "../../../shared/contract/octree.ts";
import { AppError } from "../../../shared/errors.ts";
import { jsonDocument } from "../analyze/json-document.ts";
import { describeVersions } from "../analyze/record.ts";
import type { AnalyzeDeps } from "../analyze/run.ts";
import { plainNumber, shortNumber } from "../drawing/round-steps.ts";
import type { Fact } from "../report/summary.ts";
import { unitsFact } from "../report/system-text.ts";
import { terminalTable } from "../report/terminal.ts";
import { type FolderRun, runInFolder, SUMMARY_FILE, shown } from "../run/folder-run.ts";
import { type CloudPart, checkInputs, type Input, readCloud, refuseReplacing, requireKind } from "../run/inputs.ts";
import { cloudSample } from "../run/samples.ts";
import { reportedWarnings } from "../wording.ts";
import type { WoodOptions } from "./options.ts";
import { woodPictures } from "./pictures.ts";

const WOOD_SLUG = "wood_class";
const WOOD = 1;

/**
 * Tells wood from leaves and writes pictures, a summary and the labelled cloud, all of them or, after a cancel or failure,
 * none. Errors: those of the options, the file and the client.
 */
export async function wood(file: string, options: WoodOptions, deps: AnalyzeDeps): Promise<void> {
  const [input] = (await checkInputs([file], options.reading)) as [Input];
  requireKind(input, "cloud", "<cloud>");
  const copy = `${basename(input.name, extname(input.name))}_wood.laz`;
  await refuseReplacing(options.out, copy, [input]);
  await runInFolder({ ...options, guarded: SUMMARY_FILE }, deps, async (run) => {
    const { client, progress, signal, out } = run;
    const cloud = await readCloud(input, options.reading, run);
    const id = cloud.tail.session_id;
    progress.stage("Telling wood from leaves");
    const wish = {
      method: options.method,
      model_id: options.model,
      wood_bias: options.woodBias ?? null,
      acknowledge_cost: true,
    };
    const found = await client.segmentWoodSession(id, wish, { signal });
    progress.stage("Measuring the wood");
    const area = found.num_wood > 0 ? await woodArea(id, run) : { area_m2: 0, warnings: [] };
    progress.stage("Drawing pictures");
    const tail = { ...cloud.tail, ...OctreeBlock.parse(found) };
    const sample = await cloudSample(tail, client, { budget: options.points, signal, value: WOOD_SLUG });
    const pictures = await woodPictures(sample, options.pictureSize, signal);
    for (const { name, png } of pictures) await out.write(name, png);
    progress.stage("Writing the labelled cloud");
    const source = { session_id: id };
    const done = await client.exportCloud(
      { source, format: "laz", dest_path: out.stage(copy), columns: null },
      shown(run),
    );
    const warnings = reportedWarnings([
      ...cloud.warnings,
      ...found.warnings,
      ...area.warnings,
      ...(done.warnings ?? []),
    ]);
    const document = {
      cloud: { path: input.path, bytes: input.bytes, points: cloud.tail.point_count },
      ...numbersOf(found),
      wood_area_m2: area.area_m2,
      outputs: { cloud: out.final(copy), pictures: pictures.map(({ name }) => out.final(name)) },
      parameters: { units: options.reading.units ?? null, up: options.reading.up ?? null },
      warnings,
      versions: await describeVersions(client, signal),
    };
    await out.write(SUMMARY_FILE, jsonDocument(document));
    const facts: Fact[] = [
      ...woodFacts(cloud, found, area.area_m2),
      ["Labelled cloud", out.final(copy)],
      ["Pictures", pictures.map(({ name }) => name).join(", ")],
    ];
    deps.stdout.write(options.json ? jsonDocument(document) : terminalTable(facts, warnings));
  });
}

const numbersOf = ({
  method,
  model_id,
  params,
  num_wood,
  num_leaf,
  segments,
  cylinders,
  elapsed_s,
}: SessionWoodResponse) => ({
  method,
  model_id,
  params,
  num_wood,
  num_leaf,
  segments,
  cylinders,
  elapsed_s,
});

function woodFacts(
  cloud: CloudPart,
  { method, model_id, num_wood, num_leaf }: SessionWoodResponse,
  area: number | null,
): Fact[] {
  const share = (100 * num_wood) / Math.max(1, num_wood + num_leaf);
  return [
    ["Cloud", cloud.file.name],
    unitsFact(cloud),
    ["Method", model_id === null ? method : `${method}, model ${model_id}`],
    ["Wood", `${plainNumber(num_wood, 0)} points (${shortNumber(Number(share.toPrecision(3)))} %)`],
    ["Leaf", `${plainNumber(num_leaf, 0)} points`],
    ["Surface of the wood", area === null ? "not known" : `${shortNumber(Number(area.toPrecision(4)))} m²`],
  ];
}

interface Area {
  /** Null: no surface could be made. */
  readonly area_m2: number | null;
  readonly warnings: readonly string[];
}

/** Area of a surface that a ball rolls over the wood. */
async function woodArea(id: string, run: FolderRun): Promise<Area> {
  const { client, signal } = run;
  const exclude_values = [0, 2];
  const parts = await client.extractByColumn(id, { slug: WOOD_SLUG, exclude_values }, { signal });
  const child = parts.children.find(({ value }) => value === WOOD);
  if (!child) return { area_m2: null, warnings: [] };
  try {
    const source = { session_id: child.session_id };
    const { meta } = await client.triangulate({ source, method: "ball_pivoting" }, shown(run));
    const warnings = (meta.warnings ?? []).map((text) => `Surface of the wood: ${text}`);
    return { area_m2: meta.surface_area, warnings };
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof AppError || error instanceof Error)) throw error;
    return { area_m2: null, warnings: [`The surface of the wood was not measured: ${error.message}`] };
  } finally {
    await client.closeSession(child.session_id);
  }
}
