import { fileURLToPath } from "node:url";
import { app, BrowserWindow } from "electron";
import { AppError } from "../../shared/errors.ts";
import { attachWindow } from "./electron-backend.ts";
import type { BackendSupervisor } from "./supervisor.ts";
import { bridgeWindow } from "./window-bridge.ts";
import { guardContents } from "./window-guards.ts";

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
  bridgeWindow(window, address.url, files);
  await window.loadURL(`${address.url}/app`).catch((error: unknown) => {
    if (!window.isDestroyed()) process.stderr.write(`the page did not load: ${String(error)}\n`);
  });
  return window;
}
