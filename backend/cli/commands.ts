import { Command, CommanderError, InvalidArgumentError } from "commander";
import { AppError } from "../../shared/errors.ts";
import { addAnalyze, type Perform } from "./analyze/command.ts";
import type { AnalyzeDeps, StartBackend } from "./analyze/run.ts";
import { addBatch } from "./batch/command.ts";
import { addCatalog } from "./catalog/command.ts";
import { addDistance } from "./distance/command.ts";
import { nearestName } from "./edit-distance.ts";
import { addFit } from "./fit/command.ts";
import { addInventory } from "./inventory/command.ts";
import { addLad } from "./lad/command.ts";
import { addMesh } from "./mesh/command.ts";
import { addPlant } from "./plant/command.ts";
import type { TextStream } from "./progress.ts";
import { addProject } from "./project/command.ts";
import { addQsm } from "./qsm/command.ts";
import { addRegister } from "./register/command.ts";
import { addScan } from "./scan/command.ts";
import { addSkeleton } from "./skeleton/command.ts";
import { addWood } from "./wood/command.ts";

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
  const perform: Perform = async (work) => {
    code = await runCommand(work, { ...deps, stdout, stderr });
  };
  addAnalyze(program, perform);
  addRegister(program, perform);
  addDistance(program, perform);
  addMesh(program, perform);
  addLad(program, perform);
  addInventory(program, perform);
  addQsm(program, perform);
  addSkeleton(program, perform);
  addWood(program, perform);
  addPlant(program, perform);
  addScan(program, perform);
  addFit(program, perform);
  addProject(program, perform);
  addCatalog(program, perform);
  addBatch(program, perform);
  try {
    refuseUnknownCommand(program, argv);
    await program.parseAsync([...argv], { from: "user" });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    return error.exitCode === 0 ? 0 : 2;
  }
  return code;
}

/** Jobs of the command batch, which only Snakemake calls. */
const JOB_PREFIX = "batch-";

/**
 * The first word that is no option must be a command: without this, the default command would take it for an argument.
 * Errors: a usage error that names the nearest command.
 */
function refuseUnknownCommand(program: Command, [word]: readonly string[]): void {
  if (word === undefined || word.startsWith("-")) return;
  const all = program.commands.map((command) => command.name());
  const names = [...all, "help"];
  if (names.includes(word)) return;
  const nearest = nearestName(word, names);
  const hint = nearest
    ? `did you mean "${nearest}"?`
    : `the commands are ${names.filter((name) => !name.startsWith(JOB_PREFIX)).join(", ")}`;
  program.error(`error: unknown command ${JSON.stringify(word)}; ${hint}`, { exitCode: 2 });
}

type FullDeps = CommandLineDeps & { readonly stdout: TextStream; readonly stderr: TextStream };

async function runCommand(work: (deps: AnalyzeDeps) => Promise<unknown>, deps: FullDeps): Promise<number> {
  const { EXIT, exitCodeOf, messageOf } = await import("./exit-code.ts");
  const cancel = deps.signal ? undefined : cancelOnSignals();
  const signal = deps.signal ?? cancel?.signal ?? new AbortController().signal;
  try {
    const { startBackend, connect, stdout, stderr } = deps;
    await work({ startBackend, stdout, stderr, signal, ...(connect ? { connect } : {}) });
    return EXIT.done;
  } catch (error) {
    if (signal.aborted) {
      const own = error instanceof AppError && error.code === "canceled" && error.message !== "canceled";
      deps.stderr.write(`Canceled; ${own ? error.message : "nothing was written"}.\n`);
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
