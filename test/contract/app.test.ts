import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { sessionTest } from "../support/session/session-test.ts";

const TOKEN = "0123456789abcdef0123456789abcdef";
const built = existsSync(fileURLToPath(new URL("../../dist/window/index.html", import.meta.url)));
if (!built) console.log("window: its files are not checked, dist/window is missing (npm run build:ts)");
const open = sessionTest();
const guarded = sessionTest({ config: { authToken: TOKEN } });

describe.skipIf(!built)("the window's files", () => {
  test("need no token, and only they", async () => {
    const status = async (method: "GET" | "HEAD" | "POST" | "DELETE", url: string) =>
      (await guarded.app.inject({ method, url })).statusCode;
    for (const url of ["/app", "/app/", "/app?x=1", "/app/main.js", "/app/window.css", "/app/icon.svg"])
      expect([url, await status("GET", url)]).toEqual([url, 200]);
    expect(await status("HEAD", "/app")).toBe(200);
    for (const url of ["/", "/docs", "/openapi.json", "/apps", "/app/a/b", "/app/upload/x/y"])
      expect([url, await status("GET", url)]).toEqual([url, 401]);
    expect(await status("POST", "/app/upload?name=a.las")).toBe(401);
    expect(await status("DELETE", `/app/upload/${"0".repeat(32)}`)).toBe(401);
    expect(await status("POST", "/app")).toBe(401);
  });

  test("come with a policy that allows this service alone; other answers have none", async () => {
    const page = await open.app.inject({ url: "/app" });
    expect(page.headers["content-type"]).toBe("text/html; charset=utf-8");
    const policy = String(page.headers["content-security-policy"]);
    expect(policy).toContain("default-src 'self'");
    expect(policy).not.toMatch(/unsafe|\*|https?:|data:/);
    expect(page.headers).toMatchObject({ "x-content-type-options": "nosniff", "referrer-policy": "no-referrer" });
    expect(page.body).not.toMatch(/<script(?![^>]*\bsrc=)|<style|\sstyle=|\son[a-z]+=|https?:\/\//i);
    for (const url of ["/", "/health", "/docs"])
      expect((await open.app.inject({ url })).headers["content-security-policy"]).toBeUndefined();
    const etag = String(page.headers.etag);
    expect((await open.app.inject({ url: "/app", headers: { "if-none-match": etag } })).statusCode).toBe(304);
  });

  test("are those of its folder alone", async () => {
    const names = [
      "package.json",
      "..%2f..%2fpackage.json",
      "%2e%2e%2findex.html",
      "..%5cmain.js",
      ".env",
      "index.html%00",
      "none.js",
    ];
    for (const name of names) {
      const { statusCode } = await open.app.inject({ url: `/app/${name}` });
      expect([name, statusCode]).toEqual([name, 404]);
    }
  });
});
