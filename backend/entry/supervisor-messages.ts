/** What the backend tells its supervisor. */
export interface FromBackend {
  readonly type: "ready";
  readonly url: string;
  readonly port: number;
  readonly version: string;
  readonly pid: number;
}

/** What the supervisor tells the backend. */
export type ToBackend =
  | { readonly type: "ready-ack" }
  /** `removeSessions` false keeps the sessions for a later start; the default is the clean end of a window. */
  | { readonly type: "stop"; readonly removeSessions?: boolean };
