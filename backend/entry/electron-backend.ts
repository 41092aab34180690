import { fileURLToPath } from "node:url";
import type { BrowserWindow } from "electron";
import { AppError } from "../../shared/errors.ts";
import { utilityProcessStarter } from "./electron-process.ts";
import { BackendSupervisor } from "./supervisor.ts";
import type { SupervisorOptions } from "./supervisor-contract.ts";
import { setAccess } from "./window-access.ts";

/*
 * API for a desktop app: one supervisor per window.
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
  /** Entry file of the backend; default: utility-process.js in the folder of this file. */
  readonly entry?: string;
}

/** A supervisor whose backend is an Electron utility process. Start it after the app is ready. */
export function createSupervisor({ entry, ...options }: ElectronSupervisorOptions): BackendSupervisor {
  const file = entry ?? fileURLToPath(new URL("./utility-process.js", import.meta.url));
  return new BackendSupervisor({ ...options, startProcess: utilityProcessStarter(file) });
}

/**
 * Connects a window to its running backend: requests of the window carry the token, and when the window has closed, the
 * backend stops. It then removes its sessions with their edits, unless `keepsSessions` says that they stay for the next
 * start: ask the user before the window closes. Call it before the window loads its page.
 * Errors: conflict if the backend is not running.
 */
export function attachWindow(
  window: BrowserWindow,
  backend: BackendSupervisor,
  keepsSessions: () => boolean = () => false,
): void {
  const { address } = backend;
  if (!address)
    throw new AppError("conflict", `the backend is ${backend.state}; await start() before you attach a window`);
  const { session, id } = window.webContents;
  setAccess(session, id, { origin: address.url, token: backend.token });
  window.once("closed", () => {
    setAccess(session, id, undefined);
    void backend.stop({ removeSessions: !keepsSessions() });
  });
}
