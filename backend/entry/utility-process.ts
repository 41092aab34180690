import { version } from "../version.ts";
import { exitOnBugs, exitOnSignals, startBackend } from "./serve.ts";
import type { FromBackend, ToBackend } from "./supervisor-messages.ts";

/** The used part of the parent port of an Electron utility process. */
interface ParentPort {
  on(event: "message", listener: (event: { data: unknown }) => void): unknown;
  postMessage(message: FromBackend): void;
}

const RESEND_MS = 200;
const PARENT_CHECK_MS = 1_000;

exitOnBugs();
const port = (process as unknown as { parentPort?: ParentPort }).parentPort;
if (!port) {
  process.stderr.write("this file runs only as an Electron utility process; to run headless, use npm start\n");
  process.exit(2);
}
await run(port);

async function run(parent: ParentPort): Promise<void> {
  const parentPid = process.ppid;
  const starting = startBackend();
  const exit = async (removeSessions: boolean) => {
    await (await starting).stop({ removeSessions });
    process.exit(0);
  };
  let resend: NodeJS.Timeout | undefined;
  // Listens before the start has finished: the window may close, or its app crash, while sessions are recovered.
  parent.on("message", ({ data }) => {
    const message = data as Partial<ToBackend> | null;
    if (message?.type === "ready-ack") clearInterval(resend);
    if (message?.type === "stop") void exit(message.removeSessions ?? true);
  });
  // The parent crashed or was killed. Keep the sessions: its windows may open again and need them.
  setInterval(() => {
    if (process.ppid !== parentPid) void exit(false);
  }, PARENT_CHECK_MS).unref();

  const backend = await starting;
  exitOnSignals(backend);
  const ready: FromBackend = { type: "ready", url: backend.url, port: backend.port, version, pid: process.pid };
  // A message posted before the parent listens can be lost: repeat it until it is acknowledged.
  resend = setInterval(() => parent.postMessage(ready), RESEND_MS);
  parent.postMessage(ready);
}
