import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { expect, test } from "vitest";
import { createClient } from "../../shared/client/index.ts";
import { startProcess } from "../support/process/backend-process.ts";
import { folderOfTest } from "../support/run/folders.ts";

const TOKEN = "a-token-that-nobody-else-may-see-0123456789";

/** Everything below a folder, relative to it. */
function below(root: string, folder = root): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    return [relative(root, path), ...(entry.isDirectory() ? below(root, path) : [])];
  });
}

/** What others may do with a file or folder, counting the folders above it up to the root. */
function openToOthers(root: string, name: string): boolean {
  const parts = name.split("/");
  const chain = parts.map((_, i) => join(root, ...parts.slice(0, i + 1)));
  const folders = [root, ...chain.slice(0, -1)];
  const isReachable = folders.every((folder) => (statSync(folder).mode & 0o011) !== 0);
  return isReachable && (statSync(chain.at(-1) ?? root).mode & 0o077) !== 0;
}

test("nobody else can read what the service keeps, and the token is nowhere in it", async () => {
  const folder = folderOfTest("private-");
  const data = join(folder, "data");
  const scan = join(folder, "scan.txt");
  writeFileSync(
    scan,
    `x y z class\n${Array.from({ length: 500 }, (_, i) => `${i % 20} ${i % 7} 0 ${i % 3}`).join("\n")}\n`,
  );
  const umask = process.umask(0); // the service must not rely on that of the user
  mkdirSync(data, { mode: 0o755 });
  const backend = await startProcess(data, { APP_AUTH_TOKEN: TOKEN, APP_LOG_LEVEL: "debug" });
  try {
    const client = createClient({ baseUrl: backend.url, token: TOKEN });
    const { session_id } = await client.createSession({ source_path: scan });
    const region = { kind: "box" as const, min: [0, 0, -1], max: [5, 9, 1] };
    await client.deleteRegion(session_id, { region: region as never });
    await client.labelRegion(session_id, {
      slug: "own",
      strokes: [{ stroke_id: "a", region: region as never, to_class: 2 }],
    });
    await client.extractByColumn(session_id, { slug: "class" });
    const { token } = await client.stageScene(new Uint8Array([1, 2, 3]));
    const path = join(folder, "saved.proj");
    await client.saveProject({ path, scene_token: token, session_ids: [session_id] });
    await client.openProject({ path });
    await client.uploadFile(new Blob([new Uint8Array(2000)]), "some.las");
    await client.createPlantSession({ plant_type: "bean", initial_age: 3 });
    await fetch(`${backend.url}/api/cloud/sessions?token=${TOKEN}`);
    await fetch(`${backend.url}/api/cloud/sessions`, { headers: { authorization: `Bearer ${TOKEN}x` } });
    const names = below(data);
    expect(names.length).toBeGreaterThan(30);
    expect(names.filter((name) => openToOthers(data, name))).toEqual([]);
    writeFileSync(join(data, "open"), "");
    expect(openToOthers(data, "open")).toBe(true); // so the line above can fail
    const files = names.filter((name) => statSync(join(data, name)).isFile());
    expect(files.filter((name) => readFileSync(join(data, name)).includes(TOKEN))).toEqual([]);
    expect(backend.log()).not.toContain(TOKEN);
  } finally {
    process.umask(umask);
    await backend.terminate();
  }
}, 120_000);
