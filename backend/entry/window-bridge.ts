import { basename } from "node:path";
import { BrowserWindow, dialog, type IpcMainEvent, type IpcMainInvokeEvent, ipcMain } from "electron";
import { CHANNELS } from "./bridge-channels.ts";
import { isOwnPage } from "./window-guards.ts";

interface BridgedWindow {
  readonly origin: string;
  /** Files that its page has not taken yet. */
  files: readonly string[];
  /** What its page told last. */
  hasUnsaved: boolean | undefined;
}

/** What the app learns from a page. */
export interface WindowBridge {
  /** Whether the page holds work that no project has; undefined while it has not told yet. */
  hasUnsaved(): boolean | undefined;
}

const windows = new Map<number, BridgedWindow>();
let isInstalled = false;

/**
 * Gives the page of a window dialogs for files, and the files that the user opened it with. Only the main frame of a
 * bridged window is answered, and only while it shows a page of its backend. `origin`: http://127.0.0.1:<port>
 */
export function bridgeWindow(window: BrowserWindow, origin: string, files: readonly string[]): WindowBridge {
  if (!isInstalled) installHandlers();
  const { id } = window.webContents;
  const bridged: BridgedWindow = { origin, files, hasUnsaved: undefined };
  windows.set(id, bridged);
  window.once("closed", () => windows.delete(id));
  return { hasUnsaved: () => bridged.hasUnsaved };
}

/** Errors: Error if the sender is another page, which rejects its call. */
function senderOf(event: IpcMainInvokeEvent | IpcMainEvent): {
  readonly window: BrowserWindow;
  readonly bridged: BridgedWindow;
} {
  const bridged = windows.get(event.sender.id);
  const window = BrowserWindow.fromWebContents(event.sender);
  const frame = event.senderFrame;
  if (!bridged || !window || !frame || frame !== event.sender.mainFrame || !isOwnPage(frame.url, bridged.origin))
    throw new Error("this page has no access to files");
  return { window, bridged };
}

function installHandlers(): void {
  isInstalled = true; // Electron takes one handler per channel
  ipcMain.handle(CHANNELS.openFiles, async (event): Promise<string[]> => {
    const { window } = senderOf(event);
    const { canceled, filePaths } = await dialog.showOpenDialog(window, {
      properties: ["openFile", "multiSelections"],
    });
    return canceled ? [] : filePaths;
  });
  ipcMain.handle(CHANNELS.saveFile, async (event, suggestedName: unknown): Promise<string | null> => {
    const { window } = senderOf(event);
    const defaultPath = basename(String(suggestedName)).slice(0, 200);
    const { canceled, filePath } = await dialog.showSaveDialog(window, { defaultPath });
    return canceled || filePath === "" ? null : filePath;
  });
  ipcMain.on(CHANNELS.tellUnsaved, (event, isUnsaved: unknown) => {
    const { bridged } = senderOf(event);
    bridged.hasUnsaved = isUnsaved === true;
  });
  ipcMain.handle(CHANNELS.takeFiles, (event): readonly string[] => {
    const { bridged } = senderOf(event);
    const { files } = bridged;
    bridged.files = [];
    return files;
  });
}
