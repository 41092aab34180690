import { join } from "node:path";
import { app, BrowserWindow, dialog } from "electron";
import { openAppWindow } from "./app-window.ts";
import { DesktopWindows, isQuit } from "./desktop-windows.ts";
import { createSupervisor } from "./electron-backend.ts";
import { openedFiles, passedFiles } from "./opened-files.ts";
import type { BackendSupervisor } from "./supervisor.ts";

/*
 * The desktop app. It runs once per user: a second start opens another window of the first, with a backend of its own.
 */

const log = (line: string) => process.stderr.write(`${line}\n`);

function makeWindows(): DesktopWindows<BackendSupervisor> {
  const folder = app.getPath("userData");
  return new DesktopWindows({
    makeBackend: (instanceId, onState) =>
      createSupervisor({
        instanceId,
        dataDir: process.env.APP_DATA_DIR || join(folder, "data"),
        octreeCacheRoot: process.env.APP_OCTREE_CACHE_ROOT || join(folder, "octrees"),
        onState,
        onLog: log,
      }),
    openWindow: async (backend, files, closed) => {
      const window = await openAppWindow(backend, { files });
      if (window.isDestroyed()) closed();
      else window.once("closed", closed);
    },
    onState: (change) => log(JSON.stringify({ time: Date.now(), pid: process.pid, msg: "backend", ...change })),
  });
}

function run(files: readonly string[]): void {
  app.enableSandbox();
  const windows = makeWindows();
  const early: string[] = []; // macOS names files before the app is ready
  let opening = 0;
  const quitIfUnused = (end: () => void) => {
    if (opening === 0 && BrowserWindow.getAllWindows().length === 0) end();
  };
  const open = async (wanted: readonly string[]) => {
    opening += 1;
    const failure = await windows.open(wanted).catch((error: unknown) => ({ error }));
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
  void app.whenReady().then(() => open([...files, ...early]));
}

function reportFailure(error: unknown): void {
  log(error instanceof Error ? (error.stack ?? error.message) : String(error));
  dialog.showErrorBox("The backend did not start", error instanceof Error ? error.message : String(error));
}

const files = openedFiles(process.argv, process.defaultApp ? 2 : 1, process.cwd());
if (app.requestSingleInstanceLock({ files })) run(files);
else app.quit(); // the running app has the files now
