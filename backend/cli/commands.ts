import { Command, CommanderError, InvalidArgumentError } from "commander";
import { AppError } from "../../shared/errors.ts";
import type { AnalyzeOptions } from "./analyze/options.ts";
import type { AnalyzeDeps, StartBackend } from "./analyze/run.ts";
import type { TextStream } from "./progress.ts";

export interface ServeRequest {
  readonly port?: number;
  readonly dataDir?: string;
}

export interface CommandLineDeps {
  /** Serves until a signal arrives; resolves when it listens. */
  readonly serve: (request: ServeRequest) => Promise<void>;
  readonly startBackend: StartBackend;
  /** Default: a client over HTTP. */
  readonly connect?: AnalyzeDeps["connect"];
  /** Default: the streams of the process. */
  readonly stdout?: TextStream;
  readonly stderr?: TextStream;
  /** Default: aborts on SIGINT (Ctrl-C) and SIGTERM. */
  readonly signal?: AbortSignal;
}

/**
 * Runs a command line, given without node and script. `serve` is the default command.
 * Returns the exit code: 0 done, 1 internal failure, 2 bad input or option, 130 canceled; undefined while serving.
 */
export async function runCommandLine(argv: readonly string[], deps: CommandLineDeps): Promise<number | undefined> {
  const stdout = deps.stdout ?? process.stdout;
  const stderr = deps.stderr ?? process.stderr;
  let code: number | undefined;
  const program = new Command("point-cloud-backend")
    .description("Local backend for LiDAR point clouds and plants")
    .exitOverride()
    .configureOutput({ writeOut: (text) => stdout.write(text), writeErr: (text) => stderr.write(text) });
  program
    .command("serve", { isDefault: true })
    .description("serve the HTTP API on 127.0.0.1 (default)")
    .option("--port <number>", "port to listen on, 0 = any free port", parsePort)
    .option("--data-dir <folder>", "folder for sessions and models")
    .addHelpText("after", "\nExample:\n  npm start -- serve --port 8008 --data-dir ~/clouds")
    .action(async (options: ServeRequest) => {
      await deps.serve(options);
    });
  addAnalyze(program, async (file, options) => {
    code = await runAnalyze(file, options, { ...deps, stdout, stderr });
  });
  try {
    refuseUnknownCommand(program, argv);
    await program.parseAsync([...argv], { from: "user" });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    return error.exitCode === 0 ? 0 : 2;
  }
  return code;
}

/** Options from commander, before their values are checked. */
interface RawAnalyzeOptions {
  readonly out: string;
  readonly format: string;
  readonly units?: string;
  readonly shift?: string;
  readonly columns?: string;
  readonly merge: readonly string[];
  readonly crop?: string;
  readonly filter: readonly string[];
  readonly scene?: string;
  readonly cell?: string;
  readonly force?: true;
  readonly points?: string;
  readonly pictureSize?: string;
  readonly json?: true;
  readonly denoise: boolean;
  readonly ground: boolean;
  readonly dem: boolean;
}

function addAnalyze(program: Command, action: (file: string, options: RawAnalyzeOptions) => Promise<void>): void {
  program
    .command("analyze")
    .description("import a point cloud and write a report, pictures and a copy")
    .argument("<file>", "point cloud file")
    .requiredOption("--out <folder>", "folder for the results, created if missing")
    .option("--format <format>", "format of the copy: las, laz, xyz, txt, csv, asc, ply, obj, pts, ptx, pcd", "las")
    .option("--units <unit>", "unit of the file's coordinates: m, km, cm, mm, ft, ftUS, in")
    .option("--shift <x,y,z>", "metres to subtract from the coordinates during processing")
    .option("--columns <legend>", 'columns of a text file, such as "x y z intensity"')
    .option("--merge <file>", "another cloud, merged before all other steps; repeatable", collected, [])
    .option("--crop <box>", "keep xmin,ymin,zmin,xmax,ymax,zmax: metres, true world coordinates")
    .option(
      "--filter <rule>",
      "keep points with column=min..max or column=1,2,5; repeatable, all must match",
      collected,
      [],
    )
    .option("--scene <kind>", "airborne, plot, tree or object (default: detected, and said why)")
    .option("--cell <metres>", "cell size of terrain, surface and canopy (default: about four points per cell)")
    .option("--points <count>", "largest number of points to draw (default 3000000)")
    .option("--picture-size <pixels>", "longest side of a picture without its axes (default 1400)")
    .option("--no-denoise", "do not label noise")
    .option("--no-ground", "do not label ground and plants")
    .option("--no-dem", "do not compute terrain, canopy and height above ground")
    .option("--force", "replace the report of an earlier run in the folder")
    .option("--json", "write one JSON document to stdout instead of the table")
    .addHelpText("after", ANALYZE_EXAMPLES)
    .action(action);
}

const ANALYZE_EXAMPLES = `
Examples:
  npm start -- analyze plot.laz --out report --format laz
  npm start -- analyze tile_feet.las --units ft --cell 1 --out report --force
  npm start -- analyze a.laz --merge b.laz --filter las_classification=2,5 --out report`;

/**
 * The first word that is no option must be a command: without this, the default command would take it for an argument.
 * Errors: a usage error that names the nearest command.
 */
function refuseUnknownCommand(program: Command, [word]: readonly string[]): void {
  if (word === undefined || word.startsWith("-")) return;
  const names = [...program.commands.map((command) => command.name()), "help"];
  if (names.includes(word)) return;
  const [nearest = ""] = names.toSorted((a, b) => editDistance(word, a) - editDistance(word, b));
  const isNear = editDistance(word, nearest) <= Math.max(2, Math.floor(nearest.length / 2));
  const hint = isNear ? `did you mean "${nearest}"?` : `the commands are ${names.join(", ")}`;
  program.error(`error: unknown command ${JSON.stringify(word)}; ${hint}`, { exitCode: 2 });
}

/** Number of letters to insert, delete or replace (Levenshtein distance). */
function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const replaced = (row[j - 1] ?? 0) + (a[i - 1]?.toLowerCase() === b[j - 1] ? 0 : 1);
      next.push(Math.min(replaced, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}

const collected = (text: string, before: readonly string[]): string[] => [...before, text];

type FullDeps = CommandLineDeps & { readonly stdout: TextStream; readonly stderr: TextStream };

async function runAnalyze(file: string, raw: RawAnalyzeOptions, deps: FullDeps): Promise<number> {
  const { EXIT, exitCodeOf, messageOf } = await import("./exit-code.ts");
  const cancel = deps.signal ? undefined : cancelOnSignals();
  const signal = deps.signal ?? cancel?.signal ?? new AbortController().signal;
  try {
    const options = await checkedOptions(raw);
    const { analyze } = await import("./analyze/analyze.ts");
    const { startBackend, connect, stdout, stderr } = deps;
    await analyze(file, options, { startBackend, stdout, stderr, signal, ...(connect ? { connect } : {}) });
    return EXIT.done;
  } catch (error) {
    if (signal.aborted) {
      deps.stderr.write("Canceled; nothing was written.\n");
      return EXIT.canceled;
    }
    const { printable } = await import("./progress.ts");
    // Only the stack of a bug has several lines.
    deps.stderr.write(`${messageOf(error).split("\n").map(printable).join("\n")}\n`);
    return exitCodeOf(error);
  } finally {
    cancel?.release();
  }
}

async function checkedOptions(raw: RawAnalyzeOptions): Promise<AnalyzeOptions> {
  const rules = await import("./analyze/options.ts");
  const edits = await import("./analyze/edit-options.ts");
  const { DEFAULT_PICTURE_PX } = await import("./drawing/view-frame.ts");
  return {
    out: raw.out,
    format: rules.parseFormat(raw.format),
    units: raw.units === undefined ? undefined : rules.parseUnits(raw.units),
    shift: raw.shift === undefined ? undefined : rules.parseShift(raw.shift),
    columns: raw.columns,
    merge: raw.merge,
    crop: raw.crop === undefined ? undefined : edits.parseCrop(raw.crop),
    filters: raw.filter.map(edits.parseFilter),
    scene: raw.scene === undefined ? undefined : rules.parseScene(raw.scene),
    cell: raw.cell === undefined ? undefined : rules.parseCell(raw.cell),
    force: raw.force ?? false,
    points: raw.points === undefined ? rules.DEFAULT_SAMPLE_POINTS : rules.parseSamplePoints(raw.points),
    pictureSize: raw.pictureSize === undefined ? DEFAULT_PICTURE_PX : rules.parsePictureSize(raw.pictureSize),
    json: raw.json ?? false,
    denoise: raw.denoise,
    ground: raw.ground,
    dem: raw.dem,
  };
}

/** The first signal cancels cleanly; a second one ends the process at once, as without this handler. */
function cancelOnSignals() {
  const controller = new AbortController();
  const cancel = () => {
    release();
    controller.abort(new AppError("canceled", "canceled"));
  };
  const release = () => {
    process.removeListener("SIGINT", cancel);
    process.removeListener("SIGTERM", cancel);
  };
  process.on("SIGINT", cancel);
  process.on("SIGTERM", cancel);
  return { signal: controller.signal, release };
}

function parsePort(text: string): number {
  const port = /^\d+$/.test(text) ? Number(text) : Number.NaN;
  if (!(port <= 65535)) throw new InvalidArgumentError(`"${text}" must be a port number from 0 to 65535.`);
  return port;
}
