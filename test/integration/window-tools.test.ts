import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createClient } from "../../shared/client/index.ts";
import { type BackendProcess, startProcess } from "../support/process/backend-process.ts";
import { eventually } from "../support/run/stopwatch.ts";
import { endOfJob, hasChromium, launchBrowser, openWindow } from "../support/window/window-page.ts";

const START_MS = 120_000;
const SIDE = 40;

/** A square of points. */
const square = Array.from({ length: SIDE * SIDE }, (_, i) => `${i % SIDE} ${Math.floor(i / SIDE)} 0`).join("\n");

describe.skipIf(!hasChromium)("the tools of the window", () => {
  let folder: string;
  let backend: BackendProcess;
  let browser: Browser;
  const client = () => createClient({ baseUrl: backend.url });

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "window-tools-"));
    backend = await startProcess(join(folder, "data"), {});
    browser = await launchBrowser();
  }, START_MS);
  afterAll(async () => {
    await browser?.close();
    expect(await backend?.terminate()).toMatchObject({ code: 0 });
    await rm(folder, { recursive: true, force: true });
  }, START_MS);

  const session = async () => {
    const [summary] = (await client().listSessions()).sessions;
    if (!summary) throw new Error("no session");
    return summary;
  };

  test(
    "a dropped file becomes a cloud; brush labels and lasso deletes what they cover, and both are undone",
    async () => {
      const { page, problems } = await openWindow(browser, backend.url);
      await dropFile(page, "dropped.xyz", square);
      await page.locator(".item[data-session] input[type=checkbox]").waitFor();
      expect(await endOfJob(page)).toBe("Opening dropped.xyz: done");
      expect((await session()).total_count).toBe(SIDE * SIDE);
      await eventually(async () => expect(await filesIn(join(folder, "data", "uploads"))).toEqual([]));

      await page.getByRole("button", { name: "Brush", exact: true }).click();
      await drawn(page, [
        [0.45, 0.5],
        [0.55, 0.5],
      ]);
      await page.getByRole("button", { name: "Set class" }).click();
      await eventually(async () => expect((await session()).undo.label_strokes).toEqual({ manual_class: 1 }));
      const { session_id } = await session();
      const labels = await client().labelSummary(session_id);
      const painted = labels.class_counts["1"] ?? 0;
      expect(painted).toBeGreaterThan(0);
      expect(painted).toBeLessThan((SIDE * SIDE) / 2);

      await page.getByRole("button", { name: "Lasso", exact: true }).click();
      await drawn(page, [
        [0.02, 0.02],
        [0.98, 0.02],
        [0.98, 0.98],
        [0.02, 0.98],
      ]);
      await page.getByRole("button", { name: "Delete points" }).click();
      await eventually(async () => expect((await session()).deleted_count).toBe(SIDE * SIDE));
      await page.getByRole("button", { name: "Undo", exact: true }).click();
      await eventually(async () => expect((await session()).deleted_count).toBe(0));
      await page.getByRole("button", { name: "Undo", exact: true }).click();
      await eventually(async () => expect((await session()).undo.label_strokes).toEqual({}));
      expect(problems).toEqual([]);
      await page.close();
    },
    START_MS,
  );

  test(
    "a cloud whose octree left the cache while it was shown is drawn again",
    async () => {
      const { page, problems } = await openWindow(browser, backend.url);
      const octrees = join(folder, "data", "octrees");
      let asked = 0;
      await page.route(/octree\.bin/, async (route) => {
        asked += 1;
        if (asked === 1) await rm(octrees, { recursive: true, force: true });
        await route.continue();
      });
      await dropFile(page, "lost.xyz", square);
      await eventually(async () =>
        expect(await page.locator(".job").allInnerTexts()).toContainEqual(expect.stringMatching(/^Drawing lost.xyz/)),
      );
      expect(await endOfJob(page)).toMatch(/lost.xyz: done$/);
      await eventually(async () => expect(await page.locator("#stats-line").innerText()).toMatch(/^1,600 points/));
      expect(asked).toBe(2);
      await dropFile(page, "lost.xyz", square); // the same points again: another session, the same octree
      await eventually(async () => expect(await page.locator("#stats-line").innerText()).toMatch(/^3,200 points/));
      expect(problems).toEqual([]);
      await page.close();
    },
    START_MS,
  );
});

const filesIn = (path: string): Promise<string[]> => readdir(path).catch(() => []);

async function dropFile(page: Page, name: string, text: string): Promise<void> {
  const dataTransfer = await page.evaluateHandle(
    `{ const data = new DataTransfer(); data.items.add(new File([${JSON.stringify(text)}], ${JSON.stringify(name)})); data }`,
  );
  await page.dispatchEvent("body", "drop", { dataTransfer });
}

/** Drags over the view along a path, in shares of its sides. */
async function drawn(page: Page, path: readonly (readonly [number, number])[]): Promise<void> {
  const box = await page.locator("#view").boundingBox();
  if (!box) throw new Error("the view has no place");
  for (const [i, [x, y]] of path.entries()) {
    await page.mouse.move(box.x + box.width * x, box.y + box.height * y, { steps: 5 });
    if (i === 0) await page.mouse.down();
  }
  await page.mouse.up();
}
