import { join } from "node:path";
import { app, BrowserWindow, dialog } from "electron";
import { AppError } from "../../shared/errors.ts";
import { attachWindow, createSupervisor, type StateChange } from "./electron-backend.ts";

/*
 * A minimal desktop app: one window with the interactive documentation of the service. An example of how to use
 * electron-backend.ts.
 */

const log = (line: string) => process.stderr.write(`${line}\n`);
const logState = (change: StateChange) =>
  log(JSON.stringify({ time: Date.now(), pid: process.pid, msg: "backend", ...change }));

async function main(): Promise<void> {
  await app.whenReady();
  const folder = app.getPath("userData");
  const backend = createSupervisor({
    instanceId: "window-1",
    dataDir: process.env.APP_DATA_DIR || join(folder, "data"),
    octreeCacheRoot: process.env.APP_OCTREE_CACHE_ROOT || join(folder, "octrees"),
    onState: logState,
    onLog: log,
  });
  // The app always quits after its backend has stopped.
  app.on("will-quit", (event) => {
    if (backend.state === "stopped") return;
    event.preventDefault();
    void backend.stop().then(() => app.quit());
  });
  app.on("window-all-closed", () => app.quit());
  const { url } = await backend.start();
  const window = new BrowserWindow({ width: 1200, height: 900, title: "Point cloud backend" });
  attachWindow(window, backend);
  await window.loadURL(`${url}/docs`).catch((error: unknown) => {
    if (!window.isDestroyed()) log(`the page did not load: ${String(error)}`);
  });
}

// Not awaited at the top level: Electron becomes ready only after this file has been evaluated.
main().catch((error: unknown) => {
  if (error instanceof AppError && error.code === "canceled") return; // the app quit during the start
  log(error instanceof Error ? (error.stack ?? error.message) : String(error));
  dialog.showErrorBox("The backend did not start", error instanceof Error ? error.message : String(error));
  app.exit(1);
});
