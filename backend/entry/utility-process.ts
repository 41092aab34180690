import { version } from "../version.ts";
import { exitOnBugs, exitOnSignals, startBackend } from "./serve.ts";
import type { FromBackend, ToBackend } from "./supervisor-messages.ts";

/** The parent's end of an Electron utility process, as far as it is used here. */
interface ParentPort {
  on(event: "message", listener: (event: { data: unknown }) => void): unknown;
  postMessage(message: FromBackend): void;
}

const RESEND_MS = 200;
const PARENT_CHECK_MS = 1_000;

exitOnBugs();
const port = (process as unknown as { parentPort?: ParentPort }).parentPort;
if (!port) {
  process.stderr.write("this entry runs as an Electron utility process; headless use: npm start\n");
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
  // Listens before the start is through: a window may close, or its app die, while a large store is recovered.
  parent.on("message", ({ data }) => {
    const message = data as Partial<ToBackend> | null;
    if (message?.type === "ready-ack") clearInterval(resend);
    if (message?.type === "stop") void exit(message.removeSessions ?? true);
  });
  // The parent died without a word (crash, kill): its windows may come back for the sessions, so they stay.
  setInterval(() => {
    if (process.ppid !== parentPid) void exit(false);
  }, PARENT_CHECK_MS).unref();

  const backend = await starting;
  exitOnSignals(backend);
  const ready: FromBackend = { type: "ready", url: backend.url, port: backend.port, version, pid: process.pid };
  // A message posted while the parent is not listening yet can be lost: say it until it is acknowledged.
  resend = setInterval(() => parent.postMessage(ready), RESEND_MS);
  parent.postMessage(ready);
}
