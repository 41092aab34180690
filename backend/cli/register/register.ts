import { AppError } from "../../../shared/errors.ts";
import { jsonDocument } from "../analyze/json-document.ts";
import { describeVersions } from "../analyze/record.ts";
import type { AnalyzeDeps } from "../analyze/run.ts";
import { Stopwatch } from "../analyze/stopwatch.ts";
import { shortNumber } from "../drawing/round-steps.ts";
import { moved } from "../meshes/mesh.ts";
import { type Page, smallPage } from "../report/page.ts";
import type { Fact } from "../report/summary.ts";
import { terminalTable } from "../report/terminal.ts";
import { type FolderRun, REPORT_FILE, runInFolder, SUMMARY_FILE } from "../run/folder-run.ts";
import { checkInputs, type Input, inputFact, type Part, readPart, refuseReplacing } from "../run/inputs.ts";
import { type MovedFile, movedFormat, movedName, writeMoved } from "./moved-file.ts";
import type { RegisterOptions } from "./options.ts";
import { bothPlaces, convergenceFigure, type NamedFigure, pairFigures } from "./pictures.ts";
import { findPose, type Pose } from "./pose.ts";
import { systemWarnings } from "./systems.ts";
import { poseFacts, sideWords, turnOf, verdict } from "./words.ts";

const JSON_FILE = "transform.json";
const TEXT_FILE = "transform.txt";

/**
 * Moves a cloud or mesh onto another one and writes motion, moved file, pictures and report, all of them or, after a cancel
 * or failure, none. Errors: those of the options, the files and the client.
 */
export async function register(
  moving: string,
  fixed: string,
  options: RegisterOptions,
  deps: AnalyzeDeps,
): Promise<void> {
  const [first, second] = (await checkInputs([moving, fixed], options.reading)) as [Input, Input];
  if (first.path === second.path) {
    throw new AppError("invalid_argument", `"${first.name}" is given twice; it lies on itself already`);
  }
  const format = movedFormat(first, options.format);
  await refuseReplacing(options.out, movedName(first, format), [first, second]);
  await runInFolder(options, deps, async (run) => {
    const clock = new Stopwatch();
    const parts = {
      moving: await readPart(first, options.reading, run),
      fixed: await readPart(second, options.reading, run),
    };
    clock.lap("import");
    const pose = await findPose(parts.moving, parts.fixed, options, run);
    clock.lap("register");
    const places = await bothPlaces(parts.moving, parts.fixed, options.points, run);
    const figures = await pairFigures(places, pose.matrix, options.pictureSize, run);
    const curve = await convergenceFigure(pose.answer);
    clock.lap("draw");
    const written = await writeMoved(parts, pose.matrix, format, run);
    const file = { ...written, warnings: [...written.warnings, ...systemWarnings(parts.moving, parts.fixed, format)] };
    clock.lap("copy");
    const result = await writeResults(
      { ...parts, pose, file, places: places.moving },
      curve ? [...figures, curve] : figures,
      options,
      run,
      clock,
    );
    deps.stdout.write(options.json ? jsonDocument(result.document) : terminalTable(result.facts, result.warnings));
  });
}

interface Found {
  readonly moving: Part;
  readonly fixed: Part;
  readonly pose: Pose;
  readonly file: MovedFile;
  /** Points of the moving part before the motion. */
  readonly places: Float64Array;
}

async function writeResults(
  { moving, fixed, pose, file, places }: Found,
  figures: readonly NamedFigure[],
  options: RegisterOptions,
  run: FolderRun,
  clock: Stopwatch,
) {
  const { out, client, signal, progress } = run;
  progress.stage("Writing the report");
  const { answer, matrix } = pose;
  const rows = rowsOf(matrix);
  const warnings = [
    ...(answer.quality_warning === null ? [] : [answer.quality_warning]),
    ...(answer.warnings ?? []),
  ].map((text) => sideWords(text, pose));
  const all = [...new Set([...warnings, ...moving.warnings, ...fixed.warnings, ...file.warnings])];
  for (const { name, png } of figures) await out.write(`${name}.png`, png);
  const versions = await describeVersions(client, signal);
  const facts = poseFacts(pose, centreShift(matrix, places));
  const document = {
    moving: partFile(moving),
    fixed: partFile(fixed),
    transform: { matrix: rows, ...turnOf(matrix), frame: "true world coordinates, metres: fixed = matrix * moving" },
    verdict: verdict(pose),
    registration: answer,
    registration_is_inverted: pose.is_inverted,
    moved: { format: file.format, file_shift: file.file_shift },
    outputs: {
      report: out.final(REPORT_FILE),
      summary: out.final(SUMMARY_FILE),
      transform: [out.final(JSON_FILE), out.final(TEXT_FILE)],
      moved: out.final(file.name),
      pictures: figures.map(({ name }) => out.final(`${name}.png`)),
    },
    warnings: all,
    versions,
    parameters: recorded(options),
    seconds: clock.seconds(),
  };
  await out.write(JSON_FILE, jsonDocument({ ...document.transform, moving: moving.file.path, fixed: fixed.file.path }));
  // Seventeen significant digits give every float64 back.
  await out.write(TEXT_FILE, `${rows.map((row) => row.map((value) => value.toPrecision(17)).join(" ")).join("\n")}\n`);
  await out.write(SUMMARY_FILE, jsonDocument(document));
  const page = pageOf({ moving, fixed, pose, file }, figures, facts, { options, versions, warnings: all });
  await out.write(REPORT_FILE, await smallPage(page));
  const outputs: Fact[] = [
    ["Moved file", out.final(file.name)],
    ["Motion", `${out.final(TEXT_FILE)}, ${JSON_FILE}`],
    ["Report", out.final(REPORT_FILE)],
    ["Summary", out.final(SUMMARY_FILE)],
  ];
  return {
    document,
    facts: [["Moving", moving.file.name], ["Fixed", fixed.file.name], ...facts, ...outputs] as Fact[],
    warnings: all,
  };
}

interface Context {
  readonly options: RegisterOptions;
  readonly versions: Record<string, string>;
  readonly warnings: readonly string[];
}

function pageOf(
  { moving, fixed, pose, file }: Omit<Found, "places">,
  figures: readonly NamedFigure[],
  facts: readonly Fact[],
  { options, versions, warnings }: Context,
): Page {
  const { answer, matrix } = pose;
  const rows = rowsOf(matrix);
  return {
    kicker: "Registration report",
    title: `${moving.file.name} onto ${fixed.file.name}`,
    created: new Date(),
    tiles: [
      [`${shortNumber(Number(answer.overlap_rmse.toPrecision(3)))} m`, "RMSE of the overlap"],
      [`${Math.round(1000 * answer.overlap) / 10} %`, "overlap"],
      [answer.conditioning.toExponential(1), "conditioning"],
      [`${answer.iterations_done}`, answer.converged ? "iterations, settled" : "iterations, not settled"],
    ],
    warnings,
    sections: [
      { title: "Result", facts, note: NOTE },
      { title: "Pictures", figures },
      {
        title: "Motion",
        facts: rows.map((row, i): Fact => [`Row ${i + 1}`, row.map((value) => value.toPrecision(17)).join("  ")]),
        note: MOTION_NOTE,
      },
      { title: "Reproduce", facts: reproduceFacts(moving, fixed, options, versions) },
    ],
    footer: `The moved file is in the folder of this report: ${file.name}.`,
  };
}

const rowsOf = (matrix: readonly number[]) => [0, 1, 2, 3].map((row) => matrix.slice(4 * row, 4 * row + 4));

const NOTE =
  "Overlap: the points that have a counterpart within the limit to which the residuals narrowed the matches. Conditioning: how well the surfaces hold the weakest of the six motions, compared with the strongest; below 0.001 that motion is arbitrary.";
const MOTION_NOTE =
  "4 x 4 matrix, row by row, metres, true world coordinates: it takes places of the moving file to the fixed file.";

const partFile = ({ kind, file, ...part }: Part) => ({
  path: file.path,
  kind,
  bytes: file.bytes,
  ...("mesh" in part ? { triangles: part.mesh.indices.length / 3 } : { points: part.tail.point_count }),
});

const recorded = (options: RegisterOptions) => {
  const { method, initial, maxDistance, iterations, format, reading, points, pictureSize } = options;
  return {
    method,
    initial,
    max_distance: maxDistance,
    iterations: iterations ?? null,
    format: format ?? null,
    units: reading.units ?? null,
    columns: reading.columns ?? null,
    points,
    picture_size: pictureSize,
  };
};

/** Shift of the mean of some places, metres. */
function centreShift(matrix: readonly number[], places: Float64Array): number[] {
  const mean = [0, 0, 0] as [number, number, number];
  for (let i = 0; i < places.length; i += 1) mean[i % 3] = (mean[i % 3] ?? 0) + (places[i] ?? 0);
  const count = Math.max(1, places.length / 3);
  const centre = [mean[0] / count, mean[1] / count, mean[2] / count] as const;
  return moved(matrix, centre).map((value, k) => value - (centre[k] ?? 0));
}

const reproduceFacts = (
  moving: Part,
  fixed: Part,
  { method, initial, maxDistance, iterations, reading, format }: RegisterOptions,
  versions: Record<string, string>,
): Fact[] => [
  ["Moving file", inputFact(moving.file)],
  ["Fixed file", inputFact(fixed.file)],
  ["Method (--method)", method.replaceAll("_", " ")],
  ["Start (--initial)", initial ?? "not given"],
  ["Longest distance (--max-distance)", maxDistance === null ? "not given" : `${maxDistance} m`],
  ["Iterations (--iterations)", iterations === undefined ? "not given" : `at most ${iterations}`],
  ["Units (--units)", reading.units ?? "not given"],
  ["Column legend (--columns)", reading.columns ?? "not given"],
  ["Format (--format)", format ?? "not given"],
  [
    "Versions",
    Object.entries(versions)
      .map(([name, version]) => `${name} ${version}`)
      .join(", "),
  ],
];
