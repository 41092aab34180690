import { Agent, fetch } from "undici";

/** Waits as long as an answer takes: an edit answers when it has ended. Connections are kept between requests. */
const dispatcher = new Agent({ headersTimeout: 0, bodyTimeout: 0 });

/** `fetch` without the 300 s after which that of Node.js gives an answer up. */
export const patientFetch = ((input: string, init?: object) =>
  fetch(input, { ...init, dispatcher })) as unknown as typeof globalThis.fetch;
