import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type AppWindow, DesktopApp } from "../support/package/desktop-app.ts";
import { type Display, openDisplay } from "../support/package/display.ts";
import { giveFile, type InstalledApp, installApp, NO_SANDBOX } from "../support/package/installed-app.ts";
import { processesOf } from "../support/package/processes.ts";
import { eventually } from "../support/run/stopwatch.ts";
import { SPIRAL_FORMAT, writeSpiral } from "../support/scans/scans.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const SETUP_MS = 3_600_000;
const NAME = "point-cloud-backend";
const SMALL = 2_000;
const LARGE = 400_000;

const { APP_TEST_ELECTRON: launcher, APP_ELECTRON_DIST } = process.env;
const distribution = APP_ELECTRON_DIST || (launcher ? join(dirname(launcher), "bin") : "");
const skipped = !existsSync(join(distribution, "electron"))
  ? "neither APP_ELECTRON_DIST nor APP_TEST_ELECTRON leads to an Electron"
  : spawnSync("Xvfb", ["-help"]).error
    ? "Xvfb is not installed"
    : spawnSync("dpkg-deb", ["--version"]).error
      ? "dpkg-deb is not installed"
      : undefined;
if (skipped) console.log(`package test: skipped, ${skipped}`);

/** The middle of the trunk. */
const PART = {
  kind: "box" as const,
  min: [-10, -10, 2] as [number, number, number],
  max: [10, 10, 4] as [number, number, number],
};

/** State of a session of a window's backend; undefined if it is not there. */
async function stateOf({ client }: AppWindow, id: string): Promise<string | undefined> {
  const { sessions } = await client.listSessions();
  return sessions.find(({ session_id }) => session_id === id)?.state;
}

describe.skipIf(skipped)("the installed desktop app", () => {
  let display: Display;
  let app: InstalledApp;
  let desktop: DesktopApp;
  let first: AppWindow;
  let second: AppWindow;
  let [scan, large] = ["", ""];
  let kept = "";

  beforeAll(async () => {
    const env = { ...process.env, APP_ELECTRON_DIST: distribution };
    const made = spawnSync(process.execPath, ["scripts/package.mjs", "deb"], { cwd: root, env, encoding: "utf8" });
    console.log(made.stdout);
    if (made.status !== 0) throw new Error(`npm run package: ${made.stdout}${made.stderr}`);
    const folder = join(root, "build", "package");
    const deb = readdirSync(folder).find((name) => name.endsWith(".deb")) ?? "no deb";
    display = await openDisplay();
    app = await installApp(join(folder, deb), NAME, display.number);
    console.log(`package test: ${basename(deb)} ${app.how}`);
    scan = await giveFile(app, "scan.xyz", (path) => writeSpiral(path, SMALL));
    large = await giveFile(app, "large.xyz", (path) => writeSpiral(path, LARGE));
  }, SETUP_MS);
  afterAll(async () => {
    await desktop?.kill();
    await app?.remove();
    await display?.close();
  });

  test("every library that it needs is there", () => {
    for (const { path } of [{ path: NAME }, { path: "resources/app.asar.unpacked/build/native/Release/pc.node" }]) {
      const command = `ldd '${join("/opt", NAME, path)}'`;
      const listed = app.inside?.(command) ?? spawnSync("ldd", [join(app.folder, path)], { encoding: "utf8" }).stdout;
      expect(listed).toContain("libc.so.6");
      expect(listed).not.toContain("not found");
    }
  });

  test("the desktop finds it: entry, icons, file types", () => {
    const share = join(app.folder, "..", "..", "usr", "share");
    const entry = join(share, "applications", `${NAME}.desktop`);
    expect(existsSync(entry)).toBe(true);
    const validator = spawnSync("desktop-file-validate", [entry], { encoding: "utf8" });
    if (validator.error)
      console.log("package test: the desktop entry is not validated, desktop-file-validate is missing");
    else expect(validator.stdout).toBe("");
    expect(existsSync(join(share, "icons", "hicolor", "256x256", "apps", `${NAME}.png`))).toBe(true);
    expect(existsSync(join(share, "mime", "packages", `${NAME}.xml`))).toBe(true);
    expect(statSync(join(app.folder, "chrome-sandbox")).mode & 0o7777).toBe(0o4755);
  });

  test("starts as a normal user and opens a window, its page in a sandbox", async () => {
    desktop = new DesktopApp(app.launcher, scan);
    try {
      first = await desktop.window();
    } catch (error) {
      if (!/sandbox|namespace/i.test(desktop.electron.log)) throw error;
      console.log("package test: this kernel refuses the sandbox of pages; the test goes on without it");
      await desktop.kill();
      desktop = new DesktopApp(app.launcher, NO_SANDBOX);
      first = await desktop.window();
      return;
    }
    const renderers = processesOf(app.folder).filter(({ type }) => type === "renderer");
    expect(renderers.length).toBeGreaterThan(0);
    expect(renderers.filter(({ isFiltered }) => !isFiltered)).toEqual([]);
    expect(first.instance).toBe("window-1");
    expect(first.token).toMatch(/^[0-9a-f]{64}$/);
  });

  test("its page reaches no Node.js and gets no permission", async () => {
    const { page } = first;
    expect(await page.evaluate("[typeof require, typeof process]")).toEqual(["undefined", "undefined"]);
    expect(await page.evaluate("Notification.requestPermission()")).toBe("denied");
    const before = page.url();
    await page.evaluate('void (location.href = "http://127.0.0.1:9/")');
    expect(await page.evaluate('window.open("about:blank")')).toBeNull();
    expect(page.url()).toBe(before);
  });

  test("an edit is there after kill -9 of the backend", async () => {
    const created = await first.client.createSession({ source_path: scan, ascii_format: SPIRAL_FORMAT });
    kept = created.session_id;
    expect(created.point_count).toBe(SMALL);
    const { deleted_count } = await first.client.deleteRegion(kept, { region: PART });
    expect(deleted_count).toBeGreaterThan(100);
    const left = SMALL - deleted_count;
    const again = desktop.ready();
    process.kill(first.address.pid, "SIGKILL");
    const { instance, address } = await again;
    expect(instance).toBe("window-1");
    expect(address.url).toBe(first.address.url);
    first = { ...first, address };
    await eventually(async () => {
      expect(await stateOf(first, kept)).toBe("ready");
    });
    const source = { session_id: kept };
    const dest_path = join(app.files, "left.xyz");
    const exported = await first.client.exportCloud({ source, format: "xyz", dest_path });
    expect(exported).toMatchObject({ success: true, point_count: left });
  });

  test("a second start with the same file opens a second window with its own backend", async () => {
    const start = new DesktopApp(app.launcher, scan);
    try {
      second = await desktop.window();
      expect(await start.electron.exited).toBe(0);
    } finally {
      await start.kill();
    }
    expect(second.instance).toBe("window-2");
    expect(second.address.pid).not.toBe(first.address.pid);
    expect(second.token).not.toBe(first.token);
    const mains = processesOf(app.folder).filter(({ type }) => type === "main");
    expect(mains).toHaveLength(1);
    expect(await stateOf(second, kept)).toBeUndefined();
    expect(await stateOf(first, kept)).toBe("ready");
  });

  test("saves to one project go one after the other", async () => {
    const { session_id } = await second.client.createSession({ source_path: large, ascii_format: SPIRAL_FORMAT });
    const path = join(app.files, "plot.proj");
    const ended: string[] = [];
    const save = async ({ client }: AppWindow, id: string, name: string, begun: () => void) => {
      const { token } = await client.stageScene(new TextEncoder().encode("PSC1 test"));
      const request = { path, scene_token: token, session_ids: [id] };
      await client.saveProject(request, { onProgress: begun });
      ended.push(name);
    };
    let slow: Promise<void> | undefined;
    await new Promise<void>((resolve) => {
      slow = save(second, session_id, "large", resolve);
    });
    await save(first, kept, "small", () => undefined);
    await slow;
    expect(ended).toEqual(["large", "small"]);
    const { session_map } = await second.client.openProject({ path });
    expect(Object.keys(session_map)).toEqual([kept]);
  });

  test("closing one window ends its backend, closing the last ends everything", async () => {
    const { pid } = second.address;
    await second.page.close();
    await eventually(() => expect(processesOf(app.folder).map((running) => running.pid)).not.toContain(pid));
    expect(await stateOf(first, kept)).toBe("ready");
    await first.page.close();
    expect(await desktop.electron.exited).toBe(0);
    await eventually(() => expect(processesOf(app.folder)).toEqual([]));
  });
});
