import { qsmMesh } from "../../../shared/client/index.ts";
import { AppError } from "../../../shared/errors.ts";
import { jsonDocument } from "../analyze/json-document.ts";
import { describeVersions } from "../analyze/record.ts";
import type { AnalyzeDeps } from "../analyze/run.ts";
import { terminalTable } from "../report/terminal.ts";
import { footCount } from "../run/feet.ts";
import { runInFolder, shown } from "../run/folder-run.ts";
import { checkInputs, type Input, readCloud, requireKind } from "../run/inputs.ts";
import { cloudSample } from "../run/samples.ts";
import { leavesOn } from "./leaves.ts";
import { diameterClasses, stemTaper } from "./measures.ts";
import type { QsmOptions } from "./options.ts";
import { classFigure, leafFigure, sideBySide, taperFigure } from "./pictures.ts";
import { writeModel } from "./results.ts";

/** Points of the pictures and of the measured taper. */
const SAMPLE_POINTS = 400_000;

/**
 * Models the wood of one tree and writes tables, mesh, pictures and report, all of them or, after a cancel or failure,
 * none. Errors: those of the options, the file and the client; invalid_argument where no model was found.
 */
export async function modelTreeFile(cloud: string, options: QsmOptions, deps: AnalyzeDeps): Promise<void> {
  const [input] = (await checkInputs([cloud], options.reading)) as [Input];
  requireKind(input, "cloud", "<cloud>");
  await runInFolder(options, deps, async (run) => {
    const points = await readCloud(input, options.reading, run);
    const { client, progress, signal } = run;
    progress.stage("Building the model");
    const { twig_radius_mm, radius_model, align: align_scans } = options;
    const source = { session_id: points.tail.session_id };
    const model = await client.buildQsm({ source, twig_radius_mm, radius_model, align_scans }, shown(run));
    if (!model.metrics) throw new AppError("invalid_argument", model.error ?? "no model was found");
    const mesh = qsmMesh(model);
    if (options.leaves) progress.stage("Placing leaves");
    const leaves = options.leaves && (await leavesOn(model, mesh, options.leaves, client, signal));
    progress.stage("Drawing pictures");
    const sample = await cloudSample(points.tail, client, { budget: SAMPLE_POINTS, signal });
    const classes = diameterClasses(model, model.metrics);
    const taper = stemTaper(model, sample.position);
    const figures = [
      ...(await sideBySide(sample, mesh, options.pictureSize, signal)),
      await taperFigure(taper),
      await classFigure(classes),
      ...(leaves ? [await leafFigure(mesh, leaves.mesh, options.pictureSize, signal)] : []),
    ];
    progress.stage("Writing the report");
    const warnings = [
      ...points.warnings,
      ...severalTrees(footCount(sample)),
      ...model.warnings,
      ...(leaves?.warnings ?? []),
    ];
    const found = { points, model, metrics: model.metrics, mesh, classes, taper, leaves, warnings };
    const versions = await describeVersions(client, signal);
    const { document, facts } = await writeModel(found, figures, options, run, versions);
    deps.stdout.write(options.json ? jsonDocument(document) : terminalTable(facts, document.warnings));
  });
}

/** Warns of a cloud that is no single tree. */
export const severalTrees = (feet: number): string[] =>
  feet > 1
    ? [
        `The points stand on ${feet} feet, as several trees do: the model joins them into one. inventory --qsm models every tree of a plot.`,
      ]
    : [];
