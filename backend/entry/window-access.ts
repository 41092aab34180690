import type { OnBeforeSendHeadersListenerDetails, Session } from "electron";

/** What a window may do: its requests to `origin` carry `token`. */
export interface Grant {
  /** http://127.0.0.1:<port> */
  readonly origin: string;
  readonly token: string;
}

type Request = Pick<OnBeforeSendHeadersListenerDetails, "url" | "webContentsId" | "requestHeaders">;

/**
 * Adds the access token to the requests of the windows that own a backend, to that backend's origin only. The page
 * never holds the token, so nothing it loads can take it elsewhere.
 *
 * Electron keeps one onBeforeSendHeaders listener per session. An app that has its own calls `headersFor` in it
 * instead of using `accessOf`.
 */
export class WindowAccess {
  readonly #grants = new Map<number, Grant>();

  grant(webContentsId: number, grant: Grant): void {
    this.#grants.set(webContentsId, grant);
  }
  revoke(webContentsId: number): void {
    this.#grants.delete(webContentsId);
  }
  /** Match patterns of every origin that is granted. */
  patterns(): string[] {
    return [...new Set([...this.#grants.values()].map(({ origin }) => `${origin}/*`))];
  }

  /** The headers to send. A redirect to another origin does not take the token along: the browser drops it. */
  headersFor({ url, webContentsId, requestHeaders }: Request): Record<string, string> {
    const grant = webContentsId === undefined ? undefined : this.#grants.get(webContentsId);
    if (!grant || !URL.canParse(url) || new URL(url).origin !== grant.origin) return requestHeaders;
    const others = Object.entries(requestHeaders).filter(([name]) => name.toLowerCase() !== "authorization");
    return { ...Object.fromEntries(others), Authorization: `Bearer ${grant.token}` };
  }
}

const bySession = new WeakMap<Session, { access: WindowAccess; install: () => void }>();

/** Lets a window's requests through, or no longer; installs the session's listener for exactly the granted origins. */
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
