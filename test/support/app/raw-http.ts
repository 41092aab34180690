import { request } from "node:http";
import type { AddressInfo } from "node:net";
import type { MadeApp } from "./base-app.ts";

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
}
export interface Ask {
  readonly method?: string;
  readonly path?: string;
  readonly headers?: Record<string, string>;
  readonly body?: string;
}

/** A request as an attacker would write it: every header ours, Host included. */
export function ask(port: number, { method = "GET", path = "/health", headers = {}, body }: Ask): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const sent = request(
      { host: "127.0.0.1", port, method, path, headers, setHost: headers.host === undefined },
      (answer) => {
        let text = "";
        answer.setEncoding("utf8");
        answer.on("data", (chunk: string) => {
          text += chunk;
        });
        answer.on("end", () => resolve({ status: answer.statusCode ?? 0, headers: answer.headers, body: text }));
      },
    );
    sent.on("error", reject);
    sent.end(body);
  });
}
/** Starts listening on any free port of 127.0.0.1 and returns it. */
export const listen = async ({ app }: MadeApp) => {
  await app.listen({ host: "127.0.0.1", port: 0 });
  return (app.server.address() as AddressInfo).port;
};
