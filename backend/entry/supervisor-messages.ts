/** Message of the backend to its supervisor. */
export interface FromBackend {
  readonly type: "ready";
  readonly url: string;
  readonly port: number;
  readonly version: string;
  readonly pid: number;
}

/** Messages of the supervisor to the backend. */
export type ToBackend =
  | { readonly type: "ready-ack" }
  /** `removeSessions` false keeps the sessions for a later start; by default they are removed. */
  | { readonly type: "stop"; readonly removeSessions?: boolean };

/** Why a ready message is refused, as a sentence; undefined if it is valid. `port` 0 = any port is allowed. */
export function readyProblem(message: unknown, expected: { version: string; port: number }): string | undefined {
  const { url, port, version, pid } = message as Partial<FromBackend>;
  if (version !== expected.version) {
    return `its version is ${String(version)}, not ${expected.version}; reinstall so that both come from one build`;
  }
  if (!Number.isInteger(port) || url !== `http://127.0.0.1:${port}` || !Number.isInteger(pid)) {
    return `it announced an unusable address (url ${String(url)}, port ${String(port)}, pid ${String(pid)})`;
  }
  if (expected.port !== 0 && port !== expected.port) return `it listens on port ${port}, not ${expected.port}`;
  return undefined;
}
