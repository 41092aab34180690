import { readdirSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { connect, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { expect, test } from "vitest";
import { MIB } from "../../shared/limits.ts";
import { appOfTest } from "../support/app/app.ts";
import { eventually } from "../support/run/stopwatch.ts";

const STALL_S = 0.3;

async function openSocket(): Promise<{ socket: Socket; received: () => string; closed: () => boolean }> {
  const made = await appOfTest({ bodyStallS: STALL_S });
  await made.app.listen({ host: "127.0.0.1", port: 0 });
  const socket = connect((made.app.server.address() as AddressInfo).port, "127.0.0.1");
  let text = "";
  let closed = false;
  socket.setEncoding("utf8").on("data", (part: string) => {
    text += part;
  });
  socket.on("close", () => {
    closed = true;
  });
  socket.on("error", () => undefined);
  return { socket, received: () => text, closed: () => closed };
}

const head = (path: string, length: number, type = "application/json") =>
  `POST ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: ${type}\r\nContent-Length: ${length}\r\n\r\n`.replace(
    "Host: localhost",
    "Host: 127.0.0.1:PORT",
  );

test.each<[string, string, number]>([
  ["a small body", "/api/pointcloud/preview", 100],
  ["a large body", "/api/pointcloud/denoise", 2 * MIB],
])("%s that stalls is answered 408, and the connection is closed", async (_name, path, length) => {
  const { socket, received, closed } = await openSocket();
  socket.write(head(path, length).replace("PORT", String(socket.remotePort ?? (await connected(socket)))));
  socket.write('{"points":[');
  await eventually(() => expect(closed()).toBe(true));
  expect(received()).toMatch(/^HTTP\/1\.1 408 /);
  expect(received()).toContain(
    `"detail":"the body of the request stalled: no byte arrived for ${STALL_S} s. Send the request again; APP_BODY_STALL_SECONDS sets this limit.","code":"timeout"`,
  );
});

test.each([
  ["before its file", "--b\r\n"],
  ["in the middle of its file", '--b\r\nContent-Disposition: form-data; name="file"; filename="a.las"\r\n\r\nLASF'],
])("a form that stalls %s is answered 408, and its file is removed", async (_name, form) => {
  const uploads = () => readdirSync(tmpdir()).filter((name) => name.startsWith("upload-"));
  const before = new Set(uploads());
  const { socket, received, closed } = await openSocket();
  const port = await connected(socket);
  socket.write(head("/api/pointcloud/import", 1000, "multipart/form-data; boundary=b").replace("PORT", String(port)));
  socket.write(form);
  await eventually(() => expect(closed()).toBe(true));
  expect(received()).toMatch(/^HTTP\/1\.1 408 [\s\S]*"code":"timeout"/);
  await eventually(() => expect(uploads().filter((name) => !before.has(name))).toEqual([]));
});

test("a slow body that keeps arriving is read", async () => {
  const { socket, received } = await openSocket();
  const port = await connected(socket);
  const body = '{"file_path":"/data/missing.las"}';
  socket.write(head("/api/pointcloud/preview", body.length).replace("PORT", String(port)));
  for (const part of body.match(/.{1,6}/g) ?? []) {
    await new Promise((resolve) => setTimeout(resolve, 1000 * STALL_S * 0.4));
    socket.write(part);
  }
  await eventually(() => expect(received()).toMatch(/^HTTP\/1\.1 404 /));
  socket.destroy();
});

/** The port of the service, once connected. */
async function connected(socket: Socket): Promise<number> {
  await eventually(() => expect(socket.remotePort).toBeGreaterThan(0));
  return socket.remotePort ?? 0;
}
