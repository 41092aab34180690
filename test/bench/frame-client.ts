import { connect } from "node:net";

/** The header of a frame has the images of its textures. */
const HEAD_BYTES = 2 ** 20;
const RECEIVE_BYTES = 2 ** 18;

/** The first bytes of an answer, and its length, of which the headers and the marks of chunks are a thousandth. */
export interface FrameHead {
  readonly head: Buffer;
  readonly length: number;
}

/**
 * Posts a request and receives its frame with a bare socket, which keeps nothing but the header: `fetch` and node:http spend
 * longer on the pieces of an answer than the service on a plant.
 */
export function postForFrame(url: string, body: string | Buffer): Promise<FrameHead> {
  const { host, hostname, port, pathname } = new URL(url);
  const type = typeof body === "string" ? "application/json" : "application/octet-stream";
  const into = Buffer.allocUnsafeSlow(RECEIVE_BYTES);
  const head = Buffer.allocUnsafeSlow(HEAD_BYTES);
  let length = 0;
  const callback = (size: number) => {
    if (length < HEAD_BYTES) into.copy(head, length, 0, size);
    length += size;
    return true;
  };
  return new Promise((resolve, reject) => {
    const socket = connect({ host: hostname, port: Number(port), onread: { buffer: into, callback } });
    socket.on("error", reject);
    socket.on("close", () => resolve({ head: head.subarray(0, length), length }));
    socket.write(
      `POST ${pathname} HTTP/1.1\r\nHost: ${host}\r\nContent-Type: ${type}\r\nAccept: application/octet-stream\r\nConnection: close\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n`,
    );
    socket.write(body);
  });
}

/** The `meta` of a frame, and where it begins, after its markers. Errors: the answer has no frame. */
export function metaOf(head: Buffer): { readonly meta: Readonly<Record<string, unknown>>; readonly at: number } {
  const at = head.indexOf("PHB1");
  if (at < 0) throw new Error(`no frame: ${head.subarray(0, 500).toString()}`);
  const { meta } = JSON.parse(head.toString("utf8", at + 8, at + 8 + head.readUInt32LE(at + 4)));
  return { meta, at };
}
