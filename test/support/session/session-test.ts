import type { AddressInfo } from "node:net";
import type { LightMyRequestResponse } from "fastify";
import { afterAll, afterEach, beforeAll, beforeEach } from "vitest";
import type { Config } from "../../../backend/config.ts";
import type { CreateSessionTail } from "../../../shared/contract/cloud-session/create.ts";
import { makeApp, type Scan, type TestApp } from "../app/app.ts";
import { cloud, slab } from "./session-edits.ts";

export interface SessionTestOptions {
  readonly config?: Partial<Config>;
  /** Data folder, removed at the end; a fresh one when omitted. */
  readonly folder?: string;
  /** Whether the app listens on a port of 127.0.0.1. */
  readonly listening?: boolean;
  /** When what a test creates is closed: after the test, or after the last one, for tests that share sessions. */
  readonly closeSessions?: "after each" | "at the end";
}

/** The app of a test file or of a `describe`. Its parts are there from the first beforeAll on. */
export interface SessionTest extends TestApp {
  /** Where a listening app is reached, without a final slash. */
  readonly base: string;
  /** A session that the tests share: created before the first, closed after the last. Called outside of tests. */
  shared(scan: Scan, wishes?: object): { readonly session_id: string; readonly tail: CreateSessionTail };
  /** POSTs an action of a session. */
  post(id: string, action: string, payload?: object): Promise<LightMyRequestResponse>;
  /** Deletes the points of a line cloud with from <= x <= to. */
  remove(id: string, from: number, to: number): Promise<LightMyRequestResponse>;
}

/**
 * Gives the tests of a file, or of the `describe` it is called in, one app. After each test, also one that fails, runs in
 * progress are canceled and the sessions it created are closed; after the last, the app is closed and its folder removed.
 */
export function sessionTest(options: SessionTestOptions = {}): SessionTest {
  const { config, folder, listening = false, closeSessions = "after each" } = options;
  let made: TestApp | undefined;
  const now = (): TestApp => {
    if (!made) throw new Error("the app of a sessionTest() is built in a beforeAll: use it in tests and hooks");
    return made;
  };
  beforeAll(async () => {
    made = await makeApp(config, folder);
    if (listening) await made.app.listen({ host: "127.0.0.1", port: 0 });
  });
  afterAll(() => made?.close());
  if (closeSessions === "after each") closeSessionsOfTest(now);

  const post: SessionTest["post"] = (id, action, payload) =>
    now().app.inject({ method: "POST", url: `/api/cloud/session/${id}/${action}`, ...(payload ? { payload } : {}) });
  return {
    get app() {
      return now().app;
    },
    get deps() {
      return now().deps;
    },
    get folder() {
      return now().folder;
    },
    get sessions() {
      return now().sessions;
    },
    get octrees() {
      return now().octrees;
    },
    get log() {
      return now().log;
    },
    get base() {
      return `http://127.0.0.1:${(now().app.server.address() as AddressInfo).port}`;
    },
    file: (name, content) => now().file(name, content),
    close: () => now().close(),
    shared: (scan, wishes) => sharedSession(now, scan, wishes),
    post,
    remove: (id, from, to) => post(id, "delete_region", { region: slab(from, to) }),
  };
}

function closeSessionsOfTest(now: () => TestApp): void {
  const open = () =>
    now()
      .deps.sessions.list()
      .map(({ id }) => id);
  let before: ReadonlySet<string>;
  beforeEach(() => {
    before = new Set(open());
  });
  afterEach(async () => {
    const { jobs, sessions } = now().deps;
    jobs.cancelAll();
    await jobs.idle();
    for (const id of open()) if (!before.has(id)) await sessions.delete(id);
  });
}

function sharedSession(now: () => TestApp, scan: Scan, wishes?: object): ReturnType<SessionTest["shared"]> {
  let tail: CreateSessionTail | undefined;
  const created = (): CreateSessionTail => {
    if (!tail) throw new Error("a shared session is created in a beforeAll: use it in tests and hooks");
    return tail;
  };
  beforeAll(async () => {
    tail = await cloud(now(), scan, wishes);
  });
  afterAll(async () => {
    if (tail) await now().deps.sessions.delete(tail.session_id);
  });
  return {
    get session_id() {
      return created().session_id;
    },
    get tail() {
      return created();
    },
  };
}
