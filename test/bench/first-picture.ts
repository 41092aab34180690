// The window in a headless Chromium: from `npm start` to a picture of a scan, and how fast it turns. Drawn by software.
import type { Browser, Page } from "playwright-core";
import { launchBrowser, openWindow } from "../support/window/window-page.ts";
import type { ProcessFigures } from "./native.ts";
import { withService } from "./service.ts";
import { ready, used } from "./service-jobs.ts";
import { now } from "./stage-clock.ts";

/** Seconds of each stage, one after another. */
export interface FirstPicture extends ProcessFigures {
  readonly count: number;
  /** `npm start` to READY. */
  readonly ready_s: number;
  /** Address entered to "Connected". */
  readonly page_s: number;
  /** Button Open to the last byte of session/create. */
  readonly session_s: number;
  /** To the first points on the screen. */
  readonly first_s: number;
  /** To all points of the view. */
  readonly complete_s: number;
  readonly visible_points: number;
  /** While the camera turns; points that move are fewer. */
  readonly turning_fps: number;
  readonly turning_points: number;
}

const WITHIN_MS = 300_000;

export async function firstPicture(path: string, count: number): Promise<FirstPicture> {
  const ready_s = (await ready(["npm", "start"])).wall_s;
  const browser = await launchBrowser();
  try {
    return await withService((service) =>
      used(service, async () => ({ count, ready_s, ...(await open(browser, service.url, path)) })),
    );
  } finally {
    await browser.close();
  }
}

async function open(browser: Browser, url: string, path: string) {
  const begun = now();
  const { page } = await openWindow(browser, url);
  const page_s = now() - begun;
  const created = page.waitForEvent("requestfinished", {
    predicate: (request) => request.url().endsWith("/session/create"),
    timeout: WITHIN_MS,
  });
  await page.getByLabel("File on this computer").fill(path);
  const asked = now();
  await page.getByRole("button", { name: "Open", exact: true }).click();
  await created;
  const made = now();
  await stats(page, ({ points }) => points > 0);
  const seen = now();
  const { visible_points, complete } = await settled(page);
  return {
    page_s,
    session_s: made - asked,
    first_s: seen - made,
    complete_s: complete - made,
    visible_points,
    ...(await turning(page)),
  };
}

interface Shown {
  readonly points: number;
  readonly loading: boolean;
  readonly fps: number;
}

/** What the line of the view says, once it is as wanted. */
async function stats(page: Page, isWanted: (shown: Shown) => boolean): Promise<Shown> {
  const until = now() + WITHIN_MS / 1000;
  for (;;) {
    const text = await page.locator("#stats-line").innerText();
    const shown = {
      points: Number(/^([\d,]+) points/.exec(text)?.[1]?.replaceAll(",", "") ?? 0),
      loading: text.includes("loading"),
      fps: Number(/(\d+) frames\/s/.exec(text)?.[1] ?? 0),
    };
    if (isWanted(shown)) return shown;
    if (now() > until) throw new Error(`the view says "${text}" after ${WITHIN_MS / 1000} s`);
    await page.waitForTimeout(20);
  }
}

/** The points once nothing has been loading for two seconds, and since when. */
async function settled(page: Page) {
  for (;;) {
    const { points } = await stats(page, ({ points, loading }) => points > 0 && !loading);
    const complete = now();
    await page.waitForTimeout(2000);
    const later = await stats(page, () => true);
    if (!later.loading && later.points === points) return { visible_points: points, complete };
  }
}

/** Frames per second while the camera is dragged round for some seconds: the best that the view told. */
async function turning(page: Page) {
  const box = await page.locator("#view canvas").first().boundingBox();
  if (!box) throw new Error("the view has no place");
  const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
  await page.mouse.move(x, y);
  await page.mouse.down();
  const until = now() + 6;
  let best: Shown = { points: 0, loading: false, fps: 0 };
  for (let i = 0; now() < until; i += 1) {
    await page.mouse.move(x + 200 * Math.sin(i / 40), y);
    const shown = await stats(page, () => true);
    if (shown.fps > best.fps) best = shown;
  }
  await page.mouse.up();
  return { turning_fps: best.fps, turning_points: best.points };
}
