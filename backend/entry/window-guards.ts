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

type Revived = Pick<WebContents, "on" | "reload">;

export interface Revival {
  /** Milliseconds since some time. */
  readonly now: () => number;
  readonly log: (text: string) => void;
  /** The page has crashed too often; true: try once more. */
  readonly ask: (reason: string) => Promise<boolean>;
}

/** Crashes within this time, milliseconds, after which the user is asked instead of loading the page again. */
const SOON_MS = 60_000;
const MOST_SOON = 3;

/**
 * Loads the page of a window again when its process is gone (a crash, no memory, killed): the page then finds its clouds,
 * edits and jobs at the service. A page that crashes again and again is left until the user wants it back.
 */
export function reviveContents(contents: Revived, { now, log, ask }: Revival): void {
  let crashes: number[] = [];
  contents.on("render-process-gone", (_event, { reason, exitCode }) => {
    if (reason === "clean-exit") return;
    log(`the page's process is gone (${reason}, ${exitCode})`);
    crashes = [...crashes.filter((at) => now() - at < SOON_MS), now()];
    if (crashes.length < MOST_SOON) {
      contents.reload();
      return;
    }
    crashes = [];
    void ask(reason).then((isWanted) => {
      if (isWanted) contents.reload();
    });
  });
}
