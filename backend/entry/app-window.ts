import { fileURLToPath } from "node:url";
import { app, BrowserWindow, dialog } from "electron";
import { AppError } from "../../shared/errors.ts";
import { attachWindow } from "./electron-backend.ts";
import type { BackendSupervisor } from "./supervisor.ts";
import { bridgeWindow } from "./window-bridge.ts";
import { guardContents, reviveContents } from "./window-guards.ts";

// Chromium draws WebGL in software only with this switch; it calls it unsafe for pages of strangers, which never come here.
app.commandLine.appendSwitch("enable-unsafe-swiftshader");

export interface AppWindowOptions {
  /** Absolute paths of the files that the user opened the app with. */
  readonly files: readonly string[];
}

/**
 * Opens the window of a running backend: its page /app, without access to Node.js, with dialogs for files. The token
 * goes with the requests of the window; the page does not get it. Errors: conflict if the backend is not running.
 */
export async function openAppWindow(backend: BackendSupervisor, { files }: AppWindowOptions): Promise<BrowserWindow> {
  const { address } = backend;
  if (!address) throw new AppError("conflict", `the backend is ${backend.state}; its window cannot be opened`);
  const window = new BrowserWindow({
    width: 1400,
    height: 900,
    title: "Point clouds",
    webPreferences: {
      sandbox: true,
      contextIsolation: true,
      nodeIntegration: false,
      webSecurity: true,
      preload: fileURLToPath(new URL("./preload.cjs", import.meta.url)),
    },
  });
  attachWindow(window, backend);
  guardContents(window.webContents, address.url);
  reviveContents(window.webContents, {
    now: () => performance.now(),
    log: (text) => process.stderr.write(`${text}\n`),
    ask: (reason) => askForPage(window, reason),
  });
  bridgeWindow(window, address.url, files);
  await window.loadURL(`${address.url}/app`).catch((error: unknown) => {
    if (!window.isDestroyed()) process.stderr.write(`the page did not load: ${String(error)}\n`);
  });
  return window;
}

/** Whether the page that crashed again is to be loaded once more; false also if the window is closed meanwhile. */
async function askForPage(window: BrowserWindow, reason: string): Promise<boolean> {
  const { response } = await dialog.showMessageBox(window, {
    type: "error",
    message: "The page has crashed several times.",
    detail: `Reason: ${reason}. Clouds and edits are kept by the service. Closing a large cloud may help.`,
    buttons: ["Load it again", "Leave it"],
    defaultId: 0,
    cancelId: 1,
  });
  return response === 0 && !window.isDestroyed();
}
