import { contextBridge, ipcRenderer, webUtils } from "electron";
import { CHANNELS } from "./bridge-channels.ts";

/*
 * Runs before the page of a window, in a world of its own. The page gets these five functions as `window.desktop`, and
 * nothing of Electron or Node.js.
 */

contextBridge.exposeInMainWorld("desktop", {
  /** Asks for files to open; absolute paths, empty if the user chose none. */
  openFiles: (): Promise<string[]> => ipcRenderer.invoke(CHANNELS.openFiles),
  /** Asks where to save; an absolute path, null if the user chose none. */
  saveFile: (suggestedName: string): Promise<string | null> =>
    ipcRenderer.invoke(CHANNELS.saveFile, String(suggestedName)),
  /** Absolute path of a file that was dropped on the page; empty if it is none of the disk. */
  pathOfFile: (file: File): string => webUtils.getPathForFile(file),
  /** Tells whether the page holds work that no project has: the app then asks before the window closes. */
  tellUnsaved: (isUnsaved: boolean): void => ipcRenderer.send(CHANNELS.tellUnsaved, isUnsaved === true),
  /** Calls the handler with the files that the user opened the app with, if there are any. */
  onOpenFiles: (handler: (paths: string[]) => void): void => {
    void ipcRenderer.invoke(CHANNELS.takeFiles).then((paths: string[]) => {
      if (paths.length > 0) handler(paths);
    });
  },
});
