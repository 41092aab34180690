import { BrowserWindow } from "electron";
import { attachWindow } from "./electron-backend.ts";
import type { BackendSupervisor } from "./supervisor.ts";
import { guardContents } from "./window-guards.ts";

export interface AppWindowOptions {
  /** Absolute paths of the files that the user opened the app with. */
  readonly files: readonly string[];
}

/** Opens the window of a running backend. Errors: conflict if the backend is not running. */
export async function openAppWindow(backend: BackendSupervisor, _options: AppWindowOptions): Promise<BrowserWindow> {
  const { address } = backend;
  const window = new BrowserWindow({
    width: 1200,
    height: 900,
    title: "Point cloud backend",
    webPreferences: { sandbox: true, contextIsolation: true, nodeIntegration: false, webSecurity: true },
  });
  attachWindow(window, backend);
  guardContents(window.webContents, address?.url ?? "");
  await window.loadURL(`${address?.url}/docs`).catch((error: unknown) => {
    if (!window.isDestroyed()) process.stderr.write(`the page did not load: ${String(error)}\n`);
  });
  return window;
}
