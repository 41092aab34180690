import { AppError } from "../../shared/errors.ts";
import type { Config } from "../config.ts";
import { exitOnBugs } from "./serve.ts";

/** What `serve` was asked on the command line; the environment holds the rest. */
export interface ServeOptions {
  readonly port?: number;
  readonly dataDir?: string;
}

/** Serves until a signal. The READY line is the only thing ever written to stdout. */
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
      await serve({}); // the common start loads nothing of the command line
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
