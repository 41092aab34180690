import { AppError } from "../../shared/errors.ts";
import type { Config } from "../config.ts";
import { exitOnBugs } from "./serve.ts";

/** Options of `serve` on the command line; all other settings come from the environment. */
export interface ServeOptions {
  readonly port?: number;
  readonly dataDir?: string;
}

/** Serves until a signal arrives. Writes only the READY line to stdout. */
async function serve(options: ServeOptions): Promise<void> {
  const { exitOnSignals, startBackend } = await import("./serve.ts");
  const overrides: Partial<Config> = {
    ...(options.port === undefined ? {} : { port: options.port }),
    ...(options.dataDir === undefined ? {} : { dataDir: options.dataDir }),
  };
  const backend = await startBackend(overrides);
  exitOnSignals(backend);
  process.stdout.write(`READY ${backend.url}\n`);
}

async function main(): Promise<void> {
  exitOnBugs();
  const argv = process.argv.slice(2);
  try {
    if (argv.length === 0) {
      await serve({}); // the common start does not load the command line
      return;
    }
    const { runCommandLine } = await import("../cli/commands.ts");
    const { startBackend } = await import("./serve.ts");
    const code = await runCommandLine(argv, { serve, startBackend });
    if (code !== undefined) process.exit(code);
  } catch (error) {
    const expected = error instanceof AppError && error.code === "invalid_argument";
    process.stderr.write(
      `${error instanceof Error ? (expected ? error.message : (error.stack ?? error.message)) : String(error)}\n`,
    );
    process.exit(expected ? 2 : 1);
  }
}

await main();
