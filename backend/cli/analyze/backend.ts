import { type Client, createClient } from "../../../shared/client/index.ts";
import type { Config } from "../../config.ts";
import type { Backend, StartBackend } from "./run.ts";

/** Settings of the service for one short run: any free port, no journal, and only errors in the log. */
const RUN_CONFIG = { port: 0, sessionJournal: false, logLevel: "error" } as const satisfies Partial<Config>;

/** Runs `use` with a client of a service in this process, which is stopped afterwards, with its sessions. */
export async function withBackend<T, Calls extends Partial<Client> = Client>(
  deps: { readonly startBackend: StartBackend; readonly connect?: (backend: Backend) => Calls },
  use: (client: Calls) => Promise<T>,
): Promise<T> {
  const backend = await deps.startBackend(RUN_CONFIG);
  const { url: baseUrl, token } = backend;
  try {
    const { patientFetch: fetch } = await import("../patient-fetch.ts");
    // Without `connect`, the calls are those of the whole client.
    const whole = () => createClient(token === null ? { baseUrl, fetch } : { baseUrl, token, fetch });
    return await use(deps.connect?.(backend) ?? (whole() as unknown as Calls));
  } finally {
    await backend.stop({ removeSessions: true });
  }
}
