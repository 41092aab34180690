import type { Backend } from "../../../backend/cli/analyze/run.ts";
import { type CommandLineDeps, runCommandLine, type ServeRequest } from "../../../backend/cli/commands.ts";
import { type FakeService, fakeService, textSink } from "./analyze-fake.ts";

export interface Outcome {
  readonly code: number | undefined;
  readonly stdout: string;
  readonly stderr: string;
  readonly started: number;
  readonly stopped: number;
  readonly served: readonly ServeRequest[];
}

/** Runs a command line against a fake service; pictures are small to keep it quick. */
export async function runFake(
  argv: readonly string[],
  service: FakeService = fakeService(),
  signal?: AbortSignal,
): Promise<Outcome> {
  const stdout = textSink();
  const stderr = textSink();
  const served: ServeRequest[] = [];
  let started = 0;
  let stopped = 0;
  const deps: CommandLineDeps = {
    serve: async (request) => {
      served.push({ ...request });
    },
    startBackend: async (): Promise<Backend> => {
      started += 1;
      return {
        url: "http://127.0.0.1:1",
        token: null,
        stop: async () => {
          stopped += 1;
        },
      };
    },
    connect: () => service.client,
    stdout,
    stderr,
    signal: signal ?? new AbortController().signal,
  };
  // Small pictures keep the test quick, and land has every step; an explicit option comes later and wins.
  const [command, ...rest] = argv;
  const quick = command === "analyze" ? ["analyze", "--picture-size", "200", "--scene", "plot", ...rest] : argv;
  const code = await runCommandLine(quick, deps);
  return { code, stdout: stdout.text, stderr: stderr.text, started, stopped, served };
}
