import { request } from "node:http";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { baseAppOfTest, type MadeApp, makeBaseApp } from "../support/app/base-app.ts";
import { ask, listen } from "../support/app/raw-http.ts";

let open: MadeApp;
let port = 0;
let handled = 0;
beforeAll(async () => {
  const routes = [
    (app: MadeApp["app"]) => {
      // A route file with a parser of its own must not open the door for forms.
      app.addContentTypeParser("text/plain", { parseAs: "string" }, (_request, body, done) => done(null, body));
      app.post("/echo", async ({ body }) => {
        handled += 1;
        return { body: body ?? null };
      });
    },
  ];
  open = await makeBaseApp({ routes });
  port = await listen(open);
});
afterAll(() => open.close());

describe("bodies", () => {
  const post = (headers: Record<string, string>, body: string) =>
    ask(port, { method: "POST", path: "/echo", headers, body });
  test.each([
    "application/x-www-form-urlencoded",
    "text/plain",
    "text/plain;application/json",
    "application/json-evil",
  ])("a form post as %s never reaches a handler", async (type) => {
    const before = handled;
    const answer = await post({ "content-type": type }, "{}");
    expect([answer.status, handled]).toEqual([415, before]);
    expect(JSON.parse(answer.body)).toMatchObject({ code: "unsupported" });
  });
  test("a cross-site form post with its Origin is refused before its type is checked", async () => {
    const answer = await post(
      { origin: "https://evil.example", "content-type": "application/x-www-form-urlencoded" },
      "a=1",
    );
    expect(answer.status).toBe(403);
  });
  test("accepts JSON, JSON without a type, and no body at all", async () => {
    expect(JSON.parse((await post({ "content-type": "application/json; charset=utf-8" }, '{"a":1}')).body)).toEqual({
      body: { a: 1 },
    });
    expect(JSON.parse((await post({}, '{"a":1}')).body)).toEqual({ body: { a: 1 } });
    expect(JSON.parse((await post({ "content-type": "application/json" }, "")).body)).toEqual({ body: null });
    expect(JSON.parse((await post({}, "")).body)).toEqual({ body: null });
  });
  test("invalid and hostile JSON is a 400", async () => {
    for (const text of ["{", '{"__proto__":{"admin":true}}', "\u0000"]) {
      const answer = await post({ "content-type": "application/json" }, text);
      expect([text, answer.status]).toEqual([text, 400]);
      expect(JSON.parse(answer.body)).toMatchObject({ code: "invalid_argument", detail: expect.any(String) });
    }
  });
  test("a body that declares more than the limit is refused before it is sent", async () => {
    const headers = { "content-type": "application/json", "content-length": String(2 ** 30) };
    const answer = await new Promise<number>((resolve, reject) => {
      const sent = request({ host: "127.0.0.1", port, method: "POST", path: "/echo", headers }, (got) => {
        resolve(got.statusCode ?? 0);
        sent.destroy();
      });
      sent.on("error", reject);
      sent.flushHeaders();
    });
    expect(answer).toBe(413);
  });
});

describe("multipart", () => {
  test("a file of any type arrives as a stream, from an allowed page or none", async () => {
    let text = "";
    const made = await baseAppOfTest({
      routes: [
        (app) => {
          app.post("/upload", async (request) => {
            const part = await request.file();
            text = (await part?.toBuffer())?.toString() ?? "";
            return { name: part?.filename, truncated: part?.file.truncated };
          });
        },
      ],
    });
    const uploadPort = await listen(made);
    const form = new FormData();
    form.append("file", new Blob(["LASF..."]), "cloud.las");
    const answer = await fetch(`http://127.0.0.1:${uploadPort}/upload`, { method: "POST", body: form });
    expect([answer.status, await answer.json(), text]).toEqual([
      200,
      { name: "cloud.las", truncated: false },
      "LASF...",
    ]);
    const headers = { origin: "https://evil.example" };
    expect((await fetch(`http://127.0.0.1:${uploadPort}/upload`, { method: "POST", body: form, headers })).status).toBe(
      403,
    );
  });
});
