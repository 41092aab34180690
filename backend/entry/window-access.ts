import type { OnBeforeSendHeadersListenerDetails, Session } from "electron";

/** The access of a window: its requests to `origin` carry `token`. */
export interface Grant {
  /** http://127.0.0.1:<port> */
  readonly origin: string;
  readonly token: string;
}

type Request = Pick<OnBeforeSendHeadersListenerDetails, "url" | "webContentsId" | "requestHeaders">;

/**
 * Adds the token of a backend to requests from its windows to its origin. The page itself never has the token, so
 * scripts that it loads cannot steal it.
 *
 * Electron allows one onBeforeSendHeaders listener per session. An app with a listener of its own calls `headersFor` in
 * it instead of setAccess().
 */
export class WindowAccess {
  readonly #grants = new Map<number, Grant>();

  grant(webContentsId: number, grant: Grant): void {
    this.#grants.set(webContentsId, grant);
  }
  revoke(webContentsId: number): void {
    this.#grants.delete(webContentsId);
  }
  /** Match patterns of all granted origins. */
  patterns(): string[] {
    return [...new Set([...this.#grants.values()].map(({ origin }) => `${origin}/*`))];
  }

  /** The headers to send. On a redirect to another origin, the browser drops the token. */
  headersFor({ url, webContentsId, requestHeaders }: Request): Record<string, string> {
    const grant = webContentsId === undefined ? undefined : this.#grants.get(webContentsId);
    if (!grant || !URL.canParse(url) || new URL(url).origin !== grant.origin) return requestHeaders;
    const others = Object.entries(requestHeaders).filter(([name]) => name.toLowerCase() !== "authorization");
    return { ...Object.fromEntries(others), Authorization: `Bearer ${grant.token}` };
  }
}

const bySession = new WeakMap<Session, { access: WindowAccess; install: () => void }>();

/** Grants or revokes (undefined) a window's access and installs the session's listener for the granted origins. */
export function setAccess(session: Session, webContentsId: number, grant: Grant | undefined): void {
  let entry = bySession.get(session);
  if (!entry) {
    const access = new WindowAccess();
    const install = () => {
      const urls = access.patterns();
      if (urls.length === 0) session.webRequest.onBeforeSendHeaders(null);
      else
        session.webRequest.onBeforeSendHeaders({ urls }, (details, done) =>
          done({ requestHeaders: access.headersFor(details) }),
        );
    };
    entry = { access, install };
    bySession.set(session, entry);
  }
  if (grant) entry.access.grant(webContentsId, grant);
  else entry.access.revoke(webContentsId);
  entry.install();
}
