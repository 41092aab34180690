/** Channels between the page of a window and the desktop app. */
export const CHANNELS = {
  /** -> absolute paths that the user chose, empty = none */
  openFiles: "window:open-files",
  /** suggested name -> absolute path that the user chose, null = none */
  saveFile: "window:save-file",
  /** -> absolute paths of the files that the window was opened with, once */
  takeFiles: "window:take-files",
  /** whether the page holds work that no project has */
  tellUnsaved: "window:tell-unsaved",
} as const;
