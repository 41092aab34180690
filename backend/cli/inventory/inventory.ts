import { writeFile } from "node:fs/promises";
import { basename, extname } from "node:path";
import { standCsv, standSummary, stemCurveCsv, treeCsv, treeQsmCsv } from "../../../shared/client/index.ts";
import { jsonDocument } from "../analyze/json-document.ts";
import { describeVersions } from "../analyze/record.ts";
import type { AnalyzeDeps } from "../analyze/run.ts";
import { Stopwatch } from "../analyze/stopwatch.ts";
import { terminalTable } from "../report/terminal.ts";
import { type FolderRun, runInFolder, shown } from "../run/folder-run.ts";
import { checkInputs, type Input, readCloud, refuseReplacing, requireKind } from "../run/inputs.ts";
import { plotTrees } from "./aligned.ts";
import { crownsGeojson } from "./crowns-geojson.ts";
import type { InventoryOptions } from "./options.ts";
import { crownMap, histogramFigures, type NamedFigure, stemMap } from "./pictures.ts";
import {
  CROWN_FILE,
  type Figures,
  heightClassesOf,
  plotFacts,
  STAND_FILE,
  STEM_FILE,
  TREE_FILE,
  writeResults,
} from "./results.ts";
import { type MeasuredPlot, standFacts } from "./stand-facts.ts";
import { plotSample } from "./steps.ts";
import { treeViews } from "./tree-views.ts";
import { labelWood, modelWood, WOOD_FILE } from "./wood.ts";

/**
 * Labels ground, trees and stems of a plot, measures every tree and writes report, pictures, tables, crowns and the labelled
 * cloud, all of them or, after a cancel or failure, none. Errors: those of the options, the file and the client.
 */
export async function inventory(file: string, options: InventoryOptions, deps: AnalyzeDeps): Promise<void> {
  const [input] = (await checkInputs([file], options.reading)) as [Input];
  requireKind(input, "cloud", "<cloud>");
  const copy = `${basename(input.name, extname(input.name))}_trees.laz`;
  await refuseReplacing(options.out, copy, [input]);
  await runInFolder(options, deps, async (run) => {
    const clock = new Stopwatch();
    const cloud = await readCloud(input, options.reading, run);
    clock.lap("import");
    const { plot: bare, list, scans_moved } = await plotTrees(cloud, options, run, (name) => clock.lap(name));
    const { settings } = options;
    const models = options.qsm && !bare.is_airborne;
    const plot = models && options.wood ? await labelWood(bare, options.wood, run) : bare;
    const wood = models ? await modelWood(plot, options, run) : null;
    if (wood) clock.lap("wood");
    const stand = standSummary(list, settings, {}, wood?.volumes);
    const found: MeasuredPlot = { cloud, plot, list, scans_moved, settings, stand, qsm: options.qsm, wood };
    const figures = await drawn(found, options, run);
    clock.lap("draw");
    const warnings = await writeFiles(found, copy, run);
    clock.lap("copy");
    const results = await writeResults(found, figures, options, run, {
      versions: await describeVersions(run.client, run.signal),
      seconds: clock.seconds(),
      copy,
      warnings,
    });
    const facts = [...plotFacts(found), ...standFacts(found), ...results.outputs];
    deps.stdout.write(options.json ? jsonDocument(results.document) : terminalTable(facts, results.document.warnings));
  });
}

async function drawn(found: MeasuredPlot, options: InventoryOptions, run: FolderRun): Promise<Figures> {
  const { plot, list, stand, settings } = found;
  const { progress, signal } = run;
  progress.stage("6/6 Drawing pictures");
  const sample = await plotSample(plot, options, run);
  const maps = [
    await crownMap(plot, list, sample, options.pictureSize, signal),
    await stemMap(plot, list, options.pictureSize),
  ].filter((figure): figure is NamedFigure => figure !== null);
  progress.update(0.3);
  const histograms = await histogramFigures(stand, heightClassesOf(list, settings));
  progress.update(0.4);
  return { maps, histograms, trees: await treeViews(list, sample, options.pictureSize, signal) };
}

/** Tables, crowns and the labelled cloud. Returns the warnings of the export. */
async function writeFiles(
  { cloud, plot, list, stand, settings, wood }: MeasuredPlot,
  copy: string,
  run: FolderRun,
): Promise<readonly string[]> {
  const { client, out, progress, signal } = run;
  progress.stage("Writing the results");
  const scan_name = cloud.file.name;
  const write = (name: string, text: Iterable<string>) => writeFile(out.stage(name), inPieces(text), { signal });
  await write(
    TREE_FILE,
    treeCsv({ scan_name, trees: list.trees, settings, ...(wood ? { volumes: wood.volumes } : {}) }),
  );
  if (wood) await write(WOOD_FILE, treeQsmCsv(scan_name, wood.results));
  await write(STEM_FILE, stemCurveCsv(scan_name, list.stem_curve));
  await write(STAND_FILE, [standCsv(scan_name, stand, settings)]);
  await write(CROWN_FILE, crownsGeojson(list.trees, cloud.tail.crs_epsg ?? null));
  const source = { session_id: plot.tail.session_id };
  const done = await client.exportCloud(
    { source, format: "laz", dest_path: out.stage(copy), columns: null },
    shown(run),
  );
  return done.warnings ?? [];
}

const PIECE = 1 << 16;

/** The same text in long pieces: one write per line takes 250 times as long. */
export function* inPieces(lines: Iterable<string>): Generator<string> {
  let piece = "";
  for (const line of lines) {
    piece += line;
    if (piece.length < PIECE) continue;
    yield piece;
    piece = "";
  }
  if (piece !== "") yield piece;
}
