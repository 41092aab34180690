import { basename } from "node:path";
import { BrowserWindow, dialog, type IpcMainInvokeEvent, ipcMain } from "electron";
import { CHANNELS } from "./bridge-channels.ts";
import { isOwnPage } from "./window-guards.ts";

interface BridgedWindow {
  readonly origin: string;
  /** Files that its page has not taken yet. */
  files: readonly string[];
}

const windows = new Map<number, BridgedWindow>();
let isInstalled = false;

/**
 * Gives the page of a window dialogs for files, and the files that the user opened it with. Only the main frame of a
 * bridged window is answered, and only while it shows a page of its backend. `origin`: http://127.0.0.1:<port>
 */
export function bridgeWindow(window: BrowserWindow, origin: string, files: readonly string[]): void {
  if (!isInstalled) installHandlers();
  const { id } = window.webContents;
  windows.set(id, { origin, files });
  window.once("closed", () => windows.delete(id));
}

/** Errors: Error if the sender is another page, which rejects its call. */
function senderOf(event: IpcMainInvokeEvent): { readonly window: BrowserWindow; readonly bridged: BridgedWindow } {
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
  ipcMain.handle(CHANNELS.takeFiles, (event): readonly string[] => {
    const { bridged } = senderOf(event);
    const { files } = bridged;
    bridged.files = [];
    return files;
  });
}
