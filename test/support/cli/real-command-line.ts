import { join } from "node:path";
import { runCommandLine } from "../../../backend/cli/commands.ts";
import { startBackend } from "../../../backend/entry/serve.ts";
import { textSink } from "./analyze-fake.ts";

export interface Ended {
  readonly code: number | undefined;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a command line with a real service in this process, whose folders lie in `folder`; pictures are small. */
export async function runReal(
  folder: string,
  argv: readonly string[],
  onStderr: (text: string, cancel: () => void) => void = () => undefined,
): Promise<Ended> {
  const stdout = textSink();
  const stderr = textSink();
  const controller = new AbortController();
  const places = {
    dataDir: join(folder, "data"),
    octreeCacheRoot: join(folder, "octrees"),
    logLevel: "silent",
  } as const;
  const small = argv[0] === "fit" ? [] : ["--picture-size", "200"]; // charts have one size
  const code = await runCommandLine([...argv, ...small], {
    serve: async () => undefined,
    startBackend: (overrides) => startBackend({ ...overrides, ...places }),
    stdout,
    stderr: {
      write: (text) => {
        stderr.write(text);
        onStderr(stderr.text, () => controller.abort(new Error("canceled")));
      },
    },
    signal: controller.signal,
  });
  return { code, stdout: stdout.text, stderr: stderr.text };
}
