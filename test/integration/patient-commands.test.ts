import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Agent, getGlobalDispatcher, setGlobalDispatcher } from "undici";
import { afterEach, expect, test } from "vitest";
import { withBackend } from "../../backend/cli/analyze/backend.ts";
import type { Client } from "../../shared/client/index.ts";

const usual = getGlobalDispatcher();
afterEach(() => setGlobalDispatcher(usual));

test("commands wait for an answer that takes longer than Node's fetch waits", async () => {
  const server = createServer((_request, answer) => {
    setTimeout(() => answer.setHeader("content-type", "application/json").end("[]"), 3500);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  setGlobalDispatcher(new Agent({ headersTimeout: 500 })); // Node's own 300 s, shortened: its fetch uses this agent
  const stop = () => new Promise<void>((resolve) => void server.close(() => resolve()));
  const startBackend = async () => ({ url, token: null, stop });
  await expect(fetch(url)).rejects.toMatchObject({ cause: { code: "UND_ERR_HEADERS_TIMEOUT" } });
  const asked = withBackend<unknown, Client>({ startBackend }, (client) => client.health());
  await expect(asked).rejects.toThrow(/the answer breaks its contract/); // it has come
});
