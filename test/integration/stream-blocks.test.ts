import { type AddressInfo, connect } from "node:net";
import { describe, expect, test } from "vitest";
import { sendFrame } from "../../backend/http/frame.ts";
import { baseAppOfTest } from "../support/app/base-app.ts";
import { CountingColumn } from "../support/native/counting-column.ts";

/** Bodies of answers in chunked transfer coding (RFC 9112, 7.1) that follow each other on a connection. */
function chunkedBodies(bytes: Buffer): Buffer[] {
  const bodies: Buffer[] = [];
  let at = 0;
  while (at < bytes.length) {
    at = bytes.indexOf("\r\n\r\n", at) + 4;
    const pieces: Buffer[] = [];
    for (let size = -1; size !== 0; ) {
      const line = bytes.indexOf("\r\n", at);
      size = Number.parseInt(bytes.toString("latin1", at, line), 16);
      if (!(size >= 0)) throw new Error(`no chunk at byte ${at}: ${bytes.toString("latin1", at, at + 100)}`);
      pieces.push(bytes.subarray(line + 2, line + 2 + size));
      at = line + 4 + size;
    }
    bodies.push(Buffer.concat(pieces));
  }
  return bodies;
}

describe("blocks that are filled again", () => {
  test.each([1, 2])("%d answers on one connection to a client that reads in steps hold every byte", async (answers) => {
    const column = new CountingColumn(4 * 1024 * 1024);
    const { app } = await baseAppOfTest({
      routes: [
        (app) => {
          app.get("/points", (_request, reply) =>
            sendFrame(reply, { meta: {}, buffers: { indices: { dtype: "u32", length: column.length, data: column } } }),
          );
        },
      ],
    });
    await app.listen({ host: "127.0.0.1", port: 0 });
    const { port } = app.server.address() as AddressInfo;
    const socket = connect(port, "127.0.0.1");
    const asked = (connection: string) =>
      `GET /points HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nConnection: ${connection}\r\n\r\n`;
    socket.write(asked("keep-alive").repeat(answers - 1) + asked("close"));
    const got: Buffer[] = [];
    for await (const piece of socket) {
      got.push(piece as Buffer);
      if (got.length % 20 === 0) await new Promise((resolve) => setTimeout(resolve, 5)); // the service runs ahead and waits
    }
    const bodies = chunkedBodies(Buffer.concat(got));
    expect(bodies.length).toBe(answers);
    for (const body of bodies) {
      const words = new Uint32Array(new Uint8Array(body.subarray(body.length - 4 * column.length)).buffer);
      expect(words.findIndex((value, i) => value !== i)).toBe(-1);
    }
  });
});
