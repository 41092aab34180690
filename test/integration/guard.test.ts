import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { hostAllowed, originAllowed } from "../../backend/http/guard.ts";
import { type MadeApp, makeBaseApp } from "../support/app/base-app.ts";
import { ask, listen } from "../support/app/raw-http.ts";

const TOKEN = "correct-horse-battery-staple";
let open: MadeApp;
let locked: MadeApp;
let port = 0;
let lockedPort = 0;
beforeAll(async () => {
  open = await makeBaseApp({ env: { APP_ALLOWED_ORIGINS: "https://lab.example" } });
  locked = await makeBaseApp({ env: { APP_AUTH_TOKEN: TOKEN } });
  port = await listen(open);
  lockedPort = await listen(locked);
});
afterAll(() => Promise.all([open.close(), locked.close()]));

describe("where a request may come from", () => {
  test.each([
    ["DNS rebinding", { host: "evil.example" }],
    ["DNS rebinding with our port", { host: "evil.example:PORT" }],
    ["a name that only begins like ours", { host: "localhost.evil.example:PORT" }],
    ["another port", { host: "127.0.0.1:1" }],
    ["no port", { host: "127.0.0.1" }],
    ["all interfaces", { host: "0.0.0.0:PORT" }],
    ["a foreign origin", { origin: "https://evil.example" }],
    ["a foreign origin that begins like ours", { origin: "http://localhost.evil.example" }],
    ["a foreign origin that ends like ours", { origin: "https://evil.example/http://localhost" }],
    ["a sandboxed page", { origin: "null" }],
    ["an empty origin", { origin: "" }],
    ["an image on another site", { "sec-fetch-site": "cross-site", "sec-fetch-mode": "no-cors" }],
  ])("%s is refused", async (_name, headers) => {
    const filled = Object.fromEntries(Object.entries(headers).map(([k, v]) => [k, v.replace("PORT", String(port))]));
    const answer = await ask(port, { headers: filled });
    expect(answer.status).toBe(403);
    expect(JSON.parse(answer.body)).toMatchObject({ code: "forbidden", detail: expect.stringMatching(/.../) });
    expect(answer.headers["access-control-allow-origin"]).toBeUndefined();
  });

  test.each([
    ["no browser at all", {}],
    ["localhost", { host: "LOCALHOST:PORT" }],
    ["IPv6 loopback", { host: "[::1]:PORT" }],
    ["the development server", { origin: "http://localhost:5173", "sec-fetch-site": "cross-site" }],
    ["the app", { origin: "app://localhost" }],
    ["a page from disk", { origin: "file://" }],
    ["a configured origin", { origin: "https://lab.example", "sec-fetch-site": "cross-site" }],
    ["typed into the address bar", { "sec-fetch-site": "none" }],
  ])("%s is accepted", async (_name, headers) => {
    const filled = Object.fromEntries(Object.entries(headers).map(([k, v]) => [k, v.replace("PORT", String(port))]));
    const answer = await ask(port, { headers: filled });
    expect(answer.status).toBe(200);
    expect(answer.headers["access-control-allow-origin"]).toBe(filled.origin);
  });

  test("the rules as pure functions", () => {
    expect(hostAllowed(undefined, 80)).toBe(false);
    expect(hostAllowed("localhost", 80)).toBe(true);
    expect(hostAllowed("user@localhost:80", 80)).toBe(false);
    expect(hostAllowed("localhost:99999999", undefined)).toBe(false);
    expect(originAllowed("https://127.0.0.1:1", [])).toBe(true);
    expect(originAllowed("https://lab.example", [])).toBe(false);
    expect(originAllowed("http://localhost:80:80", [])).toBe(false);
  });
});

describe("preflight", () => {
  const preflight = (target: number, origin: string, more: Record<string, string> = {}) =>
    ask(target, {
      method: "OPTIONS",
      path: "/api/cancel/x",
      headers: {
        origin,
        "access-control-request-method": "POST",
        "access-control-request-headers": "authorization",
        ...more,
      },
    });
  test("an allowed page learns what it may send, without a token", async () => {
    for (const target of [port, lockedPort]) {
      const answer = await preflight(target, "app://localhost", { "access-control-request-private-network": "true" });
      expect(answer.status).toBe(204);
      expect(answer.headers).toMatchObject({
        "access-control-allow-origin": "app://localhost",
        "access-control-allow-credentials": "true",
        "access-control-allow-headers": "authorization",
        "access-control-allow-private-network": "true",
      });
      expect(answer.headers["access-control-allow-methods"]).toContain("DELETE");
    }
  });
  test("any other page gets a 403 without permissions", async () => {
    const answer = await preflight(port, "https://evil.example", { "access-control-request-private-network": "true" });
    expect(answer.status).toBe(403);
    expect(Object.keys(answer.headers).filter((name) => name.startsWith("access-control"))).toEqual([]);
  });
});

describe("the token", () => {
  const withToken = (authorization: string | undefined, path = "/api/device-info") =>
    ask(lockedPort, {
      path,
      headers: { origin: "app://localhost", ...(authorization === undefined ? {} : { authorization }) },
    });
  test.each([
    undefined,
    "",
    "Bearer",
    "Bearer wrong",
    `Bearer ${TOKEN}x`,
    `Bearer ${TOKEN.slice(0, -1)}`,
    `Basic ${TOKEN}`,
    TOKEN,
  ])("%s is refused, with an answer that the page can read", async (authorization) => {
    const answer = await withToken(authorization);
    expect(answer.status).toBe(401);
    expect(answer.headers).toMatchObject({
      "www-authenticate": "Bearer",
      "access-control-allow-origin": "app://localhost",
    });
    expect(JSON.parse(answer.body)).toMatchObject({ code: "unauthorized" });
  });
  test("the right token is accepted; only health and version need none", async () => {
    expect((await withToken(`Bearer ${TOKEN}`)).status).toBe(200);
    expect((await withToken(undefined, "/health?x=1")).status).toBe(200);
    expect((await withToken(undefined, "/version")).status).toBe(200);
    for (const path of [
      "/",
      "/docs",
      "/openapi.json",
      "/octree/x/y",
      "/nowhere",
      "/health/",
      "/version/../api/device-info",
    ]) {
      expect([path, (await withToken(undefined, path)).status]).toEqual([path, 401]);
    }
  });
});
