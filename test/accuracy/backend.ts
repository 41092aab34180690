// A service of its own for a part of the accuracy tests.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startBackend } from "../../backend/entry/serve.ts";
import { type Client, createClient } from "../../shared/client/index.ts";

/** Calls `run` with a client of a service, and a folder, that are gone afterwards, with all sessions. */
export async function withService<T>(name: string, run: (client: Client, folder: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), `accuracy-${name}-`));
  const folders = { dataDir: join(folder, "data"), octreeCacheRoot: join(folder, "octrees") };
  const backend = await startBackend({ ...folders, port: 0, logLevel: "silent" });
  try {
    return await run(createClient({ baseUrl: backend.url }), folder);
  } finally {
    await backend.stop({ removeSessions: true });
    rmSync(folder, { recursive: true, force: true });
  }
}
