import { connect } from "node:net";
import { beforeAll, expect, test } from "vitest";
import { create } from "../support/app/app.ts";
import { sessionTest } from "../support/session/session-test.ts";

/* Requests byte by byte, as no client library would send them. */

const TOKEN = "0123456789abcdef-token";
const made = sessionTest({ listening: true, config: { authToken: TOKEN } });
let port = 0;
let session = "";
beforeAll(async () => {
  port = Number(new URL(made.base).port);
});

/** Everything that the service answers until it closes the connection, or falls silent. */
function said(bytes: string, silence_ms = 300): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = "";
    const socket = connect(port, "127.0.0.1", () => socket.write(bytes, "latin1"));
    socket.setTimeout(silence_ms, () => socket.destroy());
    socket.on("data", (data) => {
      text += data.toString("latin1");
    });
    socket.on("error", reject);
    socket.on("close", () => resolve(text));
  });
}
const statuses = (text: string): number[] => [...text.matchAll(/HTTP\/1\.1 (\d{3})/g)].map(([, code]) => Number(code));
const lines = (...all: string[]) => `${all.join("\r\n")}\r\n\r\n`;
const host = () => `Host: 127.0.0.1:${port}`;
const bearer = `Authorization: Bearer ${TOKEN}`;
const LIST = "/api/cloud/sessions";

test("the names that lead here, and no others, are hosts", async () => {
  const of = async (name: string) =>
    statuses(await said(lines(`GET ${LIST} HTTP/1.1`, `Host: ${name}`, bearer, "Connection: close")))[0];
  for (const name of [`127.0.0.1:${port}`, `localhost:${port}`, `LOCALHOST:${port}`, `[::1]:${port}`])
    expect([name, await of(name)]).toEqual([name, 200]);
  const foreign = [
    "evil.example",
    `evil.example:${port}`,
    `127.0.0.1:${port}.evil.example`,
    `127.0.0.1.evil.example:${port}`,
    `user@127.0.0.1:${port}`,
    `127.0.0.1:${port}@evil.example`,
    `127.0.0.1:${port + 1}`,
    `127.0.0.1:${port}, evil.example`,
    "127.0.0.1",
    `0.0.0.0:${port}`,
    `127.1:${port}`,
    `2130706433:${port}`,
    `localhost.:${port}`,
    `[::ffff:127.0.0.1]:${port}`,
    "",
  ];
  for (const name of foreign) expect([name, [400, 403].includes((await of(name)) ?? 0)]).toEqual([name, true]);
});

test("an absolute target of another host, a missing host and two hosts are refused", async () => {
  const target = (url: string, ...headers: string[]) =>
    said(lines(`GET ${url} HTTP/1.1`, ...headers, bearer, "Connection: close")).then(statuses);
  expect(await target(LIST)).toEqual([400]);
  expect((await target(`http://evil.example${LIST}`, "Host: evil.example"))[0]).toBe(403);
  expect((await target(LIST, "Host: evil.example", host()))[0]).not.toBe(200);
  expect((await target(LIST, host(), "Host: evil.example"))[0]).toSatisfy(
    (code: number) => code === 200 || code === 400,
  );
});

test("a second request cannot hide in the body of a first one", async () => {
  const hidden = lines(`DELETE /api/cloud/session/${session || "00000000"} HTTP/1.1`, host(), bearer);
  const post = (...headers: string[]) => [
    `POST /api/cancel/x HTTP/1.1`,
    host(),
    bearer,
    "Content-Type: application/json",
    ...headers,
  ];
  const attempts: Record<string, string> = {
    "length and chunks": `${lines(...post(`Content-Length: ${hidden.length + 5}`, "Transfer-Encoding: chunked"))}0\r\n\r\n${hidden}`,
    "two lengths": `${lines(...post("Content-Length: 0", `Content-Length: ${hidden.length}`))}${hidden}`,
    "a length with a sign": `${lines(...post("Content-Length: +0"))}${hidden}`,
    "a folded header": lines(...post("X-A: b", " Transfer-Encoding: chunked")),
    "a space before the colon": `${lines(...post("Transfer-Encoding : chunked"))}0\r\n\r\n${hidden}`,
    "chunked twice": `${lines(...post("Transfer-Encoding: chunked, identity"))}0\r\n\r\n${hidden}`,
    "bare line feeds": `${post("Content-Length: 0").join("\n")}\n\n${hidden}`,
    "a chunk of a bad length": `${lines(...post("Transfer-Encoding: chunked"))}0x0\r\n\r\n${hidden}`,
    "a null in a header": lines(...post("X-A: b\0c")),
  };
  for (const [name, bytes] of Object.entries(attempts)) {
    const codes = statuses(await said(bytes));
    expect([name, codes]).toEqual([name, [400]]);
  }
});

test("without the token no spelling of a path leads to data", async () => {
  ({ session_id: session } = await create(
    { ...made, app: withToken() } as never,
    made.file("one.xyz", "0 0 0\n1 0 0\n0 1 0\n0 0 1\n"),
  ));
  const paths = [
    LIST,
    `/health/..${LIST}`,
    `/health/%2e%2e${LIST}`,
    `/health;${LIST}`,
    `/version#${LIST}`,
    `//app/..${LIST}`,
    `/app/..%2fapi%2fcloud%2fsessions`,
    `/app/%2e%2e/api/cloud/sessions`,
    `/app/..%5c..%5cpackage.json`,
    "/app/%2fetc%2fpasswd",
    "/app/....//....//etc/passwd",
    `/octree/${"a".repeat(40)}/metadata.json`,
    "/docs",
    "/openapi.json",
    "/API/cloud/sessions",
    `/api/cloud/sessions?token=${TOKEN}`,
    `/api/cloud/sessions/`,
  ];
  for (const path of paths) {
    const text = await said(lines(`GET ${path} HTTP/1.1`, host(), "Connection: close"));
    expect([path, statuses(text)[0]]).toSatisfy(([, code]: [string, number]) => [400, 401, 404].includes(code));
    expect(text).not.toMatch(/session_id|root:|"dependencies"/);
  }
});

test("no line of the log has the token", async () => {
  await said(lines(`GET ${LIST} HTTP/1.1`, host(), bearer, "Connection: close"));
  await said(
    lines(
      `GET ${LIST}?token=${TOKEN} HTTP/1.1`,
      host(),
      "Authorization: Bearer wrong-token-000000",
      "Connection: close",
    ),
  );
  await said(lines(`GET /nowhere HTTP/1.1`, host(), bearer, "Connection: close"));
  const text = JSON.stringify(made.log);
  expect(text).toContain("GET /api/cloud/sessions");
  expect(text).not.toContain(TOKEN);
  expect(text).not.toContain("wrong-token");
});

/** The app, whose injected requests carry the token. */
function withToken() {
  const inject = (options: { headers?: object }) =>
    made.app.inject({ ...options, headers: { ...options.headers, authorization: `Bearer ${TOKEN}` } } as never);
  return { inject };
}
