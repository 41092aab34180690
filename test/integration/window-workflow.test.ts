import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createClient } from "../../shared/client/index.ts";
import { type BackendProcess, startProcess } from "../support/process/backend-process.ts";
import { eventually } from "../support/run/stopwatch.ts";
import { forestRows } from "../support/scans/forest.ts";
import {
  accessProblems,
  dragOverView,
  endOfJob,
  hasChromium,
  launchBrowser,
  openWindow,
  operate,
  start,
} from "../support/window/window-page.ts";

const TOKEN = "a-token-of-the-window-test";
const START_MS = 120_000;
const TREES = [
  { id: 1, x: 3, y: 3, dbh_m: 0.3 },
  { id: 2, x: 9, y: 3, dbh_m: 0.25 },
  { id: 3, x: 14, y: 8, dbh_m: 0.4 },
  { id: 4, x: 4, y: 9, dbh_m: 0.2 },
];
/** Of a noiseless stem. */
const DBH_TOLERANCE_M = 0.005;

/** The built page in a real browser, on the built service. */
describe.skipIf(!hasChromium)("the window", () => {
  let folder: string;
  let backend: BackendProcess;
  let browser: Browser;
  const env = { APP_AUTH_TOKEN: TOKEN };
  const client = () => createClient({ baseUrl: backend.url, token: TOKEN });
  const scan = () => join(folder, "forest.xyz");

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "window-"));
    const points = forestRows(TREES)
      .slice(1)
      .map((row) => row.split(" ").slice(0, 3).join(" "));
    await writeFile(scan(), `${points.join("\n")}\n`);
    backend = await startProcess(join(folder, "data"), env);
    browser = await launchBrowser();
  }, START_MS);
  afterAll(async () => {
    await browser?.close();
    expect(await backend?.terminate()).toMatchObject({ code: 0 });
    await rm(folder, { recursive: true, force: true });
  }, START_MS);

  const openScan = async (page: Page) => {
    await page.getByLabel("File on this computer").fill(scan());
    await page.getByRole("button", { name: "Open", exact: true }).click();
    await page.locator(".item[data-session]").first().waitFor();
    expect(await endOfJob(page)).toBe("Opening forest.xyz: done");
  };
  const closeAll = async () => {
    for (const { session_id } of (await client().listSessions()).sessions) await client().closeSession(session_id);
  };

  test(
    "leads from a scan to the tree list and a saved project, which opens again",
    async () => {
      const { page, problems } = await openWindow(browser, backend.url, TOKEN);
      expect(page.url()).not.toContain(TOKEN);
      expect(await accessProblems(page)).toEqual([]);
      await openScan(page);
      expect(await operate(page, "ground")).toBe("Ground, forest.xyz: done");
      expect(await operate(page, "dem", { add_height_column: true })).toMatch(/: done$/);
      expect(await operate(page, "stems")).toMatch(/: done$/);
      expect(await operate(page, "trees", { method: "auto" })).toMatch(/: done$/);
      expect(await operate(page, "inventory")).toBe("Tree list, forest.xyz: done");
      await expectTrees(page);
      expect(await accessProblems(page)).toEqual([]);
      const path = join(folder, "forest.proj");
      expect(await operate(page, "save", { path })).toBe("Save project: done");
      await page.reload(); // the tab still has the token, the cloud and the list
      await page.locator('#connection[data-state="online"]').waitFor();
      await page.locator(".item[data-session] input[type=checkbox]").waitFor();
      await expectTrees(page);
      expect(await operate(page, "open", { path })).toMatch(/^(Open project|Drawing forest.xyz): done$/);
      await eventually(async () => expect(await page.locator(".item[data-session]").count()).toBe(2));
      await expectTrees(page);
      expect(problems).toEqual([]);
      await page.close();
      await closeAll();
    },
    START_MS,
  );

  test(
    "says that a tree list no longer fits its cloud, and chooses no tree of it until it fits again",
    async () => {
      const { page, problems } = await openWindow(browser, backend.url, TOKEN);
      await openScan(page);
      for (const [id, fields] of [["ground"], ["dem", { add_height_column: true }], ["trees"], ["inventory"]] as const)
        expect(await operate(page, id, { ...fields })).toMatch(/: done$/);
      await expectTrees(page);
      const told = page.getByText("The cloud has changed since this list was made: run Tree list again.");
      const shown = async () =>
        [await told.nth(0).isVisible(), await told.nth(1).isVisible(), await pressed(page).count()] as const;
      expect(await shown()).toEqual([false, false, 1]);
      await page.getByRole("button", { name: "Box", exact: true }).click();
      await dragOverView(page, 0.45, 0.55);
      await page.getByRole("button", { name: "Delete points" }).click();
      await eventually(async () => expect(await shown()).toEqual([true, true, 0])); // above the list, and beside its file
      expect(await accessProblems(page)).toEqual([]);
      await page.locator(".tree-list tbody td").first().click();
      expect(await page.locator(".tree-list tbody button:enabled").count()).toBe(0);
      expect(await pressed(page).count()).toBe(0);
      await endOfJob(page);
      await page.reload();
      await eventually(async () => expect(await told.first().isVisible()).toBe(true));
      await page.getByRole("button", { name: /^Undo/ }).click();
      await eventually(async () => expect(await told.count()).toBe(0));
      await expectTrees(page);
      expect(problems).toEqual([]);
      await page.close();
      await closeAll();
    },
    START_MS,
  );

  test(
    "keeps edits over a kill of the service, also one made meanwhile, and undoes them",
    async () => {
      const { page, problems } = await openWindow(browser, backend.url, TOKEN);
      await openScan(page);
      const undo = async () => {
        const { sessions } = await client().listSessions();
        return sessions[0]?.undo;
      };
      await page.getByRole("button", { name: "Box", exact: true }).click();
      await dragOverView(page, 0.45, 0.55);
      await page.getByRole("button", { name: "Delete points" }).click();
      await eventually(async () => expect(await undo()).toEqual({ deletions: 1, label_strokes: {} }));
      await endOfJob(page);
      const { port } = new URL(backend.url);
      await backend.kill();
      await page.locator('#connection[data-state="lost"]').waitFor();
      await dragOverView(page, 0.2, 0.8);
      await page.getByRole("button", { name: "Set class" }).click();
      await page.getByText("Your edit is kept").waitFor();
      expect(await accessProblems(page)).toEqual([]);
      backend = await startProcess(join(folder, "data"), { ...env, APP_BACKEND_PORT: port });
      await page.locator('#connection[data-state="online"]').waitFor();
      await eventually(async () => expect(await undo()).toEqual({ deletions: 1, label_strokes: { manual_class: 1 } }));
      await page.locator("#view canvas").first().focus();
      await page.keyboard.press("Control+z");
      await eventually(async () => expect(await undo()).toEqual({ deletions: 1, label_strokes: {} }));
      await page.keyboard.press("Control+z");
      await eventually(async () => expect(await undo()).toEqual({ deletions: 0, label_strokes: {} }));
      await page.keyboard.press("Control+y");
      await eventually(async () => expect(await undo()).toEqual({ deletions: 1, label_strokes: {} }));
      expect(problems).toEqual([]);
      await page.close();
      await closeAll();
    },
    START_MS,
  );

  test(
    "asks before a costly run, shows errors in full, cancels, and works by keyboard",
    async () => {
      const { page, problems } = await openWindow(browser, backend.url, TOKEN);
      await openScan(page);
      await page.keyboard.press("Control+s");
      await eventually(async () => expect(await focused(page)).toBe("form-save-path"));
      expect(await operate(page, "save", { path: "relative.proj" })).toBe("Save project: failed");
      await page
        .locator(".notice-error")
        .getByText(/absolute/)
        .waitFor();
      await page.getByRole("button", { name: "Dismiss: Save project" }).press("Enter");
      expect(await page.locator(".notice").count()).toBe(0);

      const sent = await refuseOnce(page);
      await start(page, "ground", {});
      const dialog = page.getByRole("dialog");
      await dialog.getByText("It takes two hours.").waitFor();
      expect(await accessProblems(page)).toEqual([]);
      await page.keyboard.press("Escape");
      await eventually(async () => expect(sent).toEqual([false]));
      expect(await endOfJob(page)).toBe("Ground, forest.xyz: done");
      expect(await page.locator(".result").count()).toBe(0);

      expect(await operate(page, "plant", { plant_type: "bean", age: "20", random_seed: "1" })).toBe("Plant: done");
      await start(page, "scan", { step_deg: "0.01" });
      const before = Date.now();
      await page.getByRole("button", { name: "Cancel: Synthetic scan" }).click();
      expect(await endOfJob(page)).toBe("Synthetic scan: canceled");
      console.log(`window: canceled after ${Date.now() - before} ms`);
      expect(problems).toEqual([]);
      await page.close();
      await closeAll();
    },
    START_MS,
  );
});

const pressed = (page: Page) => page.locator('.tree-list tbody button[aria-pressed="true"]');
const focused = (page: Page) => page.evaluate("document.activeElement?.id");

/** Answers the next ground request with its cost; the values of acknowledge_cost of all that were sent. */
async function refuseOnce(page: Page): Promise<boolean[]> {
  const sent: boolean[] = [];
  const cost = {
    message: "It takes two hours.",
    estimated_seconds: 7200,
    estimated_bytes: 1e9,
    budget_bytes: 2e9,
    headroom_bytes: 2e9,
    admitted_bytes: 0,
    over_time: true,
    over_memory: false,
  };
  await page.route("**/segment_ground", async (route) => {
    sent.push((route.request().postDataJSON() as { acknowledge_cost: boolean }).acknowledge_cost);
    if (sent.length > 1) return route.continue();
    const body = { detail: { cost_warning: cost, message: cost.message }, code: "conflict" };
    return route.fulfill({ status: 409, json: body });
  });
  return sent;
}

/** All trees with their true diameters, sorted by a click, one chosen. */
async function expectTrees(page: Page): Promise<void> {
  const rows = page.locator(".tree-list tbody tr");
  await rows.first().waitFor();
  const diameters = async () => (await rows.locator("td:nth-child(2)").allInnerTexts()).map(Number);
  const truth = TREES.map(({ dbh_m }) => dbh_m).sort((a, b) => a - b);
  const listed = (await diameters()).sort((a, b) => a - b);
  expect(listed.length).toBe(truth.length);
  for (const [i, dbh_m] of truth.entries()) expect(Math.abs((listed[i] ?? 0) - dbh_m)).toBeLessThan(DBH_TOLERANCE_M);
  const head = page.locator('.tree-list [data-column="dbh_m"]');
  await head.click();
  const order = await head.locator("xpath=..").getAttribute("aria-sort");
  const shown = await diameters();
  expect(shown).toEqual([...shown].sort((a, b) => (order === "ascending" ? a - b : b - a)));
  const first = rows.first().getByRole("button");
  if ((await first.getAttribute("aria-pressed")) === "false") await first.click();
  expect(await first.getAttribute("aria-pressed")).toBe("true");
  expect(await page.locator(".histogram").count()).toBeGreaterThan(3);
}
