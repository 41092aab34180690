import { fileURLToPath } from "node:url";
import { app, BrowserWindow, dialog } from "electron";
import { AppError } from "../../shared/errors.ts";
import { attachWindow } from "./electron-backend.ts";
import type { BackendSupervisor } from "./supervisor.ts";
import { bridgeWindow } from "./window-bridge.ts";
import { type ClosingChoice, WindowClosing } from "./window-closing.ts";
import { guardContents, reviveContents } from "./window-guards.ts";

// Chromium draws WebGL in software only with this switch; it calls it unsafe for pages of strangers, which never come here.
app.commandLine.appendSwitch("enable-unsafe-swiftshader");

export interface AppWindowOptions {
  /** Absolute paths of the files that the user opened the app with. */
  readonly files: readonly string[];
  /** Whether the system or a signal ends the app: nobody is there to answer. */
  readonly isEnding: () => boolean;
  /** Closes the window again after the user has answered, or goes on with quitting. */
  readonly closeAgain: (window: BrowserWindow) => void;
  /** The user stays. */
  readonly stay: () => void;
  /** The window is gone. */
  readonly closed: (keepsSessions: boolean) => void;
}

/**
 * Opens the window of a running backend: its page /app, without access to Node.js, with dialogs for files. The token
 * goes with the requests of the window; the page does not get it. Before work that is in no project is lost, the window
 * asks. Errors: conflict if the backend is not running.
 */
export async function openAppWindow(backend: BackendSupervisor, options: AppWindowOptions): Promise<void> {
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
  const bridge = bridgeWindow(window, address.url, options.files);
  const closing = new WindowClosing({
    hasWork: bridge.hasUnsaved,
    isEnding: options.isEnding,
    ask: () => askForWork(window),
    close: () => options.closeAgain(window),
    stay: options.stay,
  });
  window.on("close", (event) => closing.onClose(event));
  attachWindow(window, backend, () => closing.keepsSessions);
  window.once("closed", () => options.closed(closing.keepsSessions));
  guardContents(window.webContents, address.url);
  reviveContents(window.webContents, {
    now: () => performance.now(),
    log: (text) => process.stderr.write(`${text}\n`),
    ask: (reason) => askForPage(window, reason),
  });
  await window.loadURL(`${address.url}/app`).catch((error: unknown) => {
    if (!window.isDestroyed()) process.stderr.write(`the page did not load: ${String(error)}\n`);
  });
}

/** What becomes of work that is in no project, when the window closes. */
async function askForWork(window: BrowserWindow): Promise<ClosingChoice> {
  const choices = ["keep", "discard", "cancel"] as const;
  const { response } = await dialog.showMessageBox(window, {
    type: "warning",
    message: "Close the window? It holds work that is in no project file.",
    detail:
      "Keep: the clouds with their edits are listed again when the app starts next; models of trees and plants are not " +
      "kept. Discard: all of it is deleted. To save a project, cancel and press Ctrl+S.",
    buttons: ["Keep for the next start", "Discard", "Cancel"],
    defaultId: 0,
    cancelId: 2,
    noLink: true,
  });
  return choices[response] ?? "cancel";
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
