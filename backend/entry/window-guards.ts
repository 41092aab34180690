import type { Session, WebContents } from "electron";

type Contents = Pick<WebContents, "on" | "setWindowOpenHandler"> & {
  readonly session: Pick<Session, "setPermissionRequestHandler" | "setPermissionCheckHandler">;
};

/** Whether an address is a page of this origin. */
export const isOwnPage = (address: string, origin: string): boolean =>
  URL.canParse(address) && new URL(address).origin === origin;

/**
 * Keeps a window at its backend: it goes to no other origin, opens no other windows and no views, and gets no
 * permission of the system (camera, position, notifications, ...).
 */
export function guardContents(contents: Contents, origin: string): void {
  const stay = (event: { preventDefault(): void }, address: string) => {
    if (!isOwnPage(address, origin)) event.preventDefault();
  };
  contents.on("will-navigate", (event) => stay(event, event.url));
  contents.on("will-redirect", (event) => stay(event, event.url));
  contents.on("will-frame-navigate", (event) => stay(event, event.url));
  contents.on("will-attach-webview", (event) => event.preventDefault());
  contents.setWindowOpenHandler(() => ({ action: "deny" }));
  contents.session.setPermissionRequestHandler((_contents, _permission, answer) => answer(false));
  contents.session.setPermissionCheckHandler(() => false);
}
