import { join } from "node:path";
import { app, BrowserWindow, dialog, powerMonitor } from "electron";
import { openAppWindow } from "./app-window.ts";
import { DesktopWindows, isQuit } from "./desktop-windows.ts";
import { createSupervisor } from "./electron-backend.ts";
import { keptWindows } from "./kept-windows.ts";
import { openedFiles, passedFiles } from "./opened-files.ts";
import type { BackendSupervisor } from "./supervisor.ts";

/*
 * The desktop app. It runs once per user: a second start opens another window of the first, with a backend of its own.
 */

const log = (line: string) => process.stderr.write(`${line}\n`);

/** Windows with kept sessions that a start opens at most; others follow when further windows are opened. */
const MAX_KEPT_WINDOWS = 8;

/** How the app ends. */
interface Ending {
  /** The user wants to quit: the windows are closed one after another. */
  isQuitting: boolean;
  /** The system or a signal ends it. */
  isForced: boolean;
}

const dataFolder = (): string => process.env.APP_DATA_DIR || join(app.getPath("userData"), "data");

function makeWindows(ending: Ending): DesktopWindows<BackendSupervisor> {
  return new DesktopWindows({
    makeBackend: (instanceId, onState) =>
      createSupervisor({
        instanceId,
        dataDir: dataFolder(),
        octreeCacheRoot: process.env.APP_OCTREE_CACHE_ROOT || join(app.getPath("userData"), "octrees"),
        onState,
        onLog: log,
      }),
    openWindow: (backend, files, closed) =>
      openAppWindow(backend, {
        files,
        closed,
        isEnding: () => ending.isForced,
        closeAgain: (window) => (ending.isQuitting ? app.quit() : window.close()),
        stay: () => {
          ending.isQuitting = false;
        },
      }),
    onState: (change) => log(JSON.stringify({ time: Date.now(), pid: process.pid, msg: "backend", ...change })),
  });
}

function run(files: readonly string[]): void {
  app.enableSandbox();
  const ending: Ending = { isQuitting: false, isForced: false };
  const windows = makeWindows(ending);
  const early: string[] = []; // macOS names files before the app is ready
  let opening = 0;
  const quitIfUnused = (end: () => void) => {
    if (opening === 0 && BrowserWindow.getAllWindows().length === 0) end();
  };
  const open = async (wanted: readonly string[], kept?: string) => {
    opening += 1;
    ending.isQuitting = false;
    const failure = await windows.open(wanted, kept).catch((error: unknown) => ({ error }));
    opening -= 1;
    const failed = failure !== undefined && !isQuit(failure.error);
    if (failed) reportFailure(failure.error);
    quitIfUnused(() => (failed ? app.exit(1) : app.quit()));
  };
  app.on("second-instance", (_event, _argv, _folder, data) => void app.whenReady().then(() => open(passedFiles(data))));
  app.on("open-file", (event, path) => {
    event.preventDefault();
    if (app.isReady()) void open([path]);
    else early.push(path);
  });
  app.on("window-all-closed", () => quitIfUnused(() => app.quit()));
  // The app quits after its backends have stopped, unless a second start asked for a window meanwhile.
  app.on("will-quit", (event) => {
    if (windows.idle) return;
    event.preventDefault();
    void windows.stopAll().then(() => quitIfUnused(() => app.quit()));
  });
  app.on("before-quit", () => {
    ending.isQuitting = true;
  });
  const endNow = () => {
    ending.isForced = true;
    app.quit();
  };
  void app.whenReady().then(async () => {
    // Only now: Electron sets handlers of its own before it is ready, which quit as a user does and would ask.
    for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) process.on(signal, endNow);
    powerMonitor.on("shutdown", endNow);
    const [first, ...others] = await keptWindows(dataFolder(), MAX_KEPT_WINDOWS);
    await Promise.all([open([...files, ...early], first), ...others.map((kept) => open([], kept))]);
  });
}

function reportFailure(error: unknown): void {
  log(error instanceof Error ? (error.stack ?? error.message) : String(error));
  dialog.showErrorBox("The backend did not start", error instanceof Error ? error.message : String(error));
}

const files = openedFiles(process.argv, process.defaultApp ? 2 : 1, process.cwd());
if (app.requestSingleInstanceLock({ files })) run(files);
else app.quit(); // the running app has the files now
