import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { type Browser, chromium, type Page } from "playwright-core";

const executablePath = process.env.APP_TEST_CHROMIUM ?? "/usr/bin/chromium";

/** Tells where the tests of the window are skipped because there is no Chromium. */
export const hasChromium = existsSync(executablePath);
if (!hasChromium) console.log(`window tests: skipped, no Chromium at ${executablePath} (APP_TEST_CHROMIUM)`);

export function launchBrowser(): Promise<Browser> {
  const args = ["--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"];
  return chromium.launch({ executablePath, args });
}

/** The window's page, with everything that went wrong in it. */
export interface WindowPage {
  readonly page: Page;
  /** Errors of scripts, and breaches of the page's policy. */
  readonly problems: string[];
}

export async function openWindow(browser: Browser, url: string, token?: string): Promise<WindowPage> {
  const page = await browser.newPage({ viewport: { width: 1360, height: 850 } });
  const problems: string[] = [];
  page.on("pageerror", (error) => problems.push(String(error)));
  page.on("console", (message) => {
    if (/Content Security Policy/.test(message.text())) problems.push(message.text());
  });
  await page.goto(`${url}/app/${token === undefined ? "" : `#token=${token}`}`);
  await page.locator('#connection[data-state="online"]').waitFor();
  return { page, problems };
}

/** Fills the form of an operation, runs it and waits for its end, which is returned. */
export async function operate(
  page: Page,
  id: string,
  values: Readonly<Record<string, string | boolean>> = {},
): Promise<string> {
  await start(page, id, values);
  return endOfJob(page);
}

/** Fills the form of an operation and runs it. */
export async function start(page: Page, id: string, values: Readonly<Record<string, string | boolean>>): Promise<void> {
  const disclosure = page.locator(`#operation-${id}`);
  if ((await disclosure.getAttribute("open")) === null) await disclosure.locator("summary").click();
  for (const [name, value] of Object.entries(values)) {
    const control = page.locator(`#form-${id}-${name}`);
    if (typeof value === "boolean") await control.setChecked(value);
    else {
      const fill = async () => {
        const tag = await control.evaluate((element) => element.tagName);
        await (tag === "SELECT" ? control.selectOption(value) : control.fill(value));
      };
      await fill().catch(fill); // a list of choices that arrives meanwhile takes the place of the field
    }
  }
  await disclosure.getByRole("button", { name: "Run" }).click();
}

/** State of the newest job once none is running, with its title. */
export async function endOfJob(page: Page): Promise<string> {
  await page.locator(".job").first().waitFor();
  await page.locator('.job[data-state="running"]').first().waitFor({ state: "hidden" });
  const job = page.locator(".job").first();
  return `${(await job.locator(".item-name").innerText()).split("\n")[0]}: ${await job.getAttribute("data-state")}`;
}

/** Drags over the view from one corner to the other. */
export async function dragOverView(page: Page, from = 0.1, to = 0.9): Promise<void> {
  const box = await page.locator("#view").boundingBox();
  if (!box) throw new Error("the view has no place");
  const at = (share: number) => [box.x + box.width * share, box.y + box.height * share] as const;
  await page.mouse.move(...at(from));
  await page.mouse.down();
  await page.mouse.move(...at((from + to) / 2));
  await page.mouse.move(...at(to));
  await page.mouse.up();
}

const axeSource = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** What axe-core finds wrong with the page as it is, and with its contrast in dark: one line per rule and element. */
export async function accessProblems(page: Page): Promise<string[]> {
  await page.evaluate(axeSource);
  const found: string[] = [];
  for (const [colorScheme, options] of [
    ["light", ""],
    ["dark", '{ runOnly: ["color-contrast"] }'],
  ] as const) {
    await page.emulateMedia({ colorScheme });
    const lines = await page.evaluate(
      `axe.run(${options}).then(({ violations, passes }) => passes.length === 0 ? ["nothing was checked"] :
        violations.flatMap(({ id, nodes }) => nodes.map(({ target, failureSummary }) => id + " " + target + " " + failureSummary)))`,
    );
    found.push(...(lines as string[]).map((line) => `${colorScheme}: ${line}`));
  }
  await page.emulateMedia({ colorScheme: "light" });
  return found;
}
