import type { Session } from "electron";
import { expect, test } from "vitest";
import { setAccess, WindowAccess } from "../../../backend/entry/window-access.ts";

const grant = { origin: "http://127.0.0.1:4711", token: "secret" };
const headersOf = (url: string, webContentsId: number | undefined, requestHeaders: Record<string, string> = {}) => {
  const access = new WindowAccess();
  access.grant(1, grant);
  return access.headersFor({ url, requestHeaders, ...(webContentsId === undefined ? {} : { webContentsId }) });
};

test("requests of the window to its backend carry the token once", () => {
  expect(headersOf("http://127.0.0.1:4711/api/x?y#z", 1, { accept: "*/*", authorization: "Bearer old" })).toEqual({
    accept: "*/*",
    Authorization: "Bearer secret",
  });
});

test.each([
  ["another window", grant.origin, 2],
  ["no window", grant.origin, undefined],
  ["another port", "http://127.0.0.1:4712/", 1],
  ["a longer port", "http://127.0.0.1:47110/", 1],
  ["another host name", "http://localhost:4711/", 1],
  ["another scheme", "https://127.0.0.1:4711/", 1],
  ["the origin as user name", "http://127.0.0.1:4711@evil.example/", 1],
  ["the origin as subdomain", "http://127.0.0.1.evil.example:4711/", 1],
  ["no address", "not a url", 1],
])("%s get no token", (_, url, id) => {
  expect(headersOf(url, id, { accept: "*/*" })).toEqual({ accept: "*/*" });
});

test("the session's listener covers exactly the granted origins", () => {
  const filters: unknown[] = [];
  const session = {
    webRequest: { onBeforeSendHeaders: (filter: { urls: string[] } | null) => filters.push(filter?.urls ?? null) },
  } as unknown as Session;
  setAccess(session, 1, grant);
  setAccess(session, 2, { ...grant, origin: "http://127.0.0.1:5000" });
  setAccess(session, 1, undefined);
  setAccess(session, 2, undefined);
  expect(filters).toEqual([
    ["http://127.0.0.1:4711/*"],
    ["http://127.0.0.1:4711/*", "http://127.0.0.1:5000/*"],
    ["http://127.0.0.1:5000/*"],
    null,
  ]);
});
