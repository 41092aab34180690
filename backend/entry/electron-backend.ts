import { fileURLToPath } from "node:url";
import type { BrowserWindow } from "electron";
import { AppError } from "../../shared/errors.ts";
import { utilityProcessStarter } from "./electron-process.ts";
import { BackendSupervisor } from "./supervisor.ts";
import type { SupervisorOptions } from "./supervisor-contract.ts";
import { setAccess } from "./window-access.ts";

/*
 * The desktop app's way in: one supervisor per window.
 *
 *   const backend = createSupervisor({ instanceId: "window-1", dataDir, octreeCacheRoot, onState, onLog });
 *   const { url } = await backend.start();
 *   attachWindow(window, backend);
 */

export { BackendSupervisor } from "./supervisor.ts";
export type {
  BackendAddress,
  BackendStop,
  StateChange,
  SupervisorOptions,
  SupervisorState,
} from "./supervisor-contract.ts";
export { WindowAccess } from "./window-access.ts";

export interface ElectronSupervisorOptions extends Omit<SupervisorOptions, "startProcess"> {
  /** The backend's file; default: utility-process.js beside the running file. */
  readonly entry?: string;
}

/** A supervisor whose backend is an Electron utility process. Start it after the app is ready. */
export function createSupervisor({ entry, ...options }: ElectronSupervisorOptions): BackendSupervisor {
  const file = entry ?? fileURLToPath(new URL("./utility-process.js", import.meta.url));
  return new BackendSupervisor({ ...options, startProcess: utilityProcessStarter(file) });
}

/**
 * Ties a window to its running backend: the window's own requests carry the token, and the backend stops, with its
 * sessions, when the window closes. It must be attached before the window loads its page.
 * Errors: conflict when the backend is not running.
 */
export function attachWindow(window: BrowserWindow, backend: BackendSupervisor): void {
  const { address } = backend;
  if (!address)
    throw new AppError("conflict", `the backend is ${backend.state}; await start() before a window is attached`);
  const { session, id } = window.webContents;
  setAccess(session, id, { origin: address.url, token: backend.token });
  window.once("closed", () => {
    setAccess(session, id, undefined);
    void backend.stop();
  });
}
