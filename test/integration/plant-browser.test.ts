import { existsSync } from "node:fs";
import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { type Browser, chromium, type Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type HeadlessBackend, startHeadless } from "../support/process/headless-backend.ts";
import { within } from "../support/run/stopwatch.ts";

const executablePath = process.env.APP_TEST_CHROMIUM ?? "/usr/bin/chromium";
const hasChromium = existsSync(executablePath);
if (!hasChromium) console.log(`plant browser test: skipped, no Chromium at ${executablePath} (APP_TEST_CHROMIUM)`);

const START_MS = 120_000;
const BEAN = { plant_type: "bean", age: 20, random_seed: 1 };
const FOREST = { mode: "canopy", plant_type: "olive", age: 500, count_x: 30, count_y: 30, random_seed: 1 };

/**
 * A page that hears events. EventSource sends only GET, so the answer to the POST goes, as it arrives, through a GET of the
 * page's own site into a real EventSource.
 */
const PAGE = `<!doctype html><meta charset="utf-8"><script>
const NAMES = ["run_id", "progress", "result", "canceled", "error"];
function relayed(id) {
  const events = [];
  const source = new EventSource("/relay/" + id);
  return new Promise((resolve) => {
    for (const name of NAMES) source.addEventListener(name, (event) => {
      if (event.data === undefined) return resolve({ events, broken: true });
      events.push({ name, data: event.data });
      if (["result", "canceled", "error"].includes(name)) { source.close(); resolve({ events, broken: false }); }
    });
  });
}
/** The stream itself, over fetch; "hangUpAfter" events the request is aborted. */
async function fetched(url, body, hangUpAfter) {
  const connection = new AbortController();
  const answer = await fetch(url, { method: "POST", headers: { "content-type": "application/json" },
    body: JSON.stringify(body), signal: connection.signal });
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  let text = "", chunks = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return { text, chunks, status: answer.status };
    text += value;
    chunks += 1;
    if (hangUpAfter && text.split("event: ").length > hangUpAfter) { connection.abort(); return { text, chunks }; }
  }
}
</script>`;

describe.skipIf(!hasChromium)("plants as events in the browser", () => {
  let backend: HeadlessBackend;
  let site: Server;
  let browser: Browser;
  let page: Page;
  const problems: string[] = [];
  const relays = new Map<string, object>();

  beforeAll(async () => {
    backend = await startHeadless();
    site = createServer((request, response) => {
      const wish = relays.get(request.url ?? "");
      if (!wish) {
        response.setHeader("content-type", "text/html").end(PAGE);
        return;
      }
      void relay(`${backend.url}/api/plant/generate/stream`, wish, response);
    });
    await new Promise<void>((resolve) => site.listen(0, "127.0.0.1", resolve));
    browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });
    page = await browser.newPage();
    page.on("pageerror", (error) => problems.push(String(error)));
    await page.goto(`http://127.0.0.1:${(site.address() as AddressInfo).port}/`);
  }, START_MS);
  afterAll(async () => {
    await browser?.close();
    site?.close();
    site?.closeAllConnections();
    expect(await backend?.stop()).toBe(0);
    expect(problems).toEqual([]);
  }, START_MS);

  test("an EventSource understands every event of the stream", async () => {
    relays.set("/relay/bean", BEAN);
    const { events, broken } = (await page.evaluate(`relayed("bean")`)) as {
      events: { name: string; data: string }[];
      broken: boolean;
    };
    expect(broken).toBe(false);
    expect(events[0]).toEqual({ name: "run_id", data: expect.stringMatching(/^\{"run_id":"[0-9a-f]{32}"\}$/) });
    const fractions = events.flatMap(({ name, data }) =>
      name === "progress" ? [(JSON.parse(data) as { progress: number }).progress] : [],
    );
    expect(fractions).toEqual([...fractions].sort((a, b) => a - b));
    expect(fractions.at(-1)).toBe(1);
    const plant = JSON.parse(events.at(-1)?.data ?? "") as Record<string, unknown>;
    expect(plant).toMatchObject({ success: true, plant_type: "bean", age: 20 });
    expect(plant.vertices).toHaveLength(plant.vertex_count as number);
  });

  test("a failure is its event", async () => {
    relays.set("/relay/triffid", { plant_type: "triffid" });
    const { events } = (await page.evaluate(`relayed("triffid")`)) as { events: { name: string; data: string }[] };
    expect(events.at(-1)).toEqual({ name: "error", data: expect.stringContaining("triffid") });
  });

  test("a page that goes away cancels the run", async () => {
    const call = `fetched("${backend.url}/api/plant/generate/stream", ${JSON.stringify(FOREST)}, 3)`;
    const { text } = (await page.evaluate(call)) as { text: string };
    const run_id = /"run_id":"([0-9a-f]+)"/.exec(text)?.[1] ?? "";
    expect(run_id).toHaveLength(32);
    await within(1000, () => {
      const line = backend
        .log()
        .split("\n")
        .find((one) => one.includes(run_id) && one.includes("run ended"));
      expect(line).toContain('"canceled"');
    });
  });
});

/** Sends the answer of a POST on as the answer of a GET, unchanged. */
async function relay(url: string, wish: object, response: ServerResponse): Promise<void> {
  const answer = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(wish),
  });
  response.writeHead(answer.status, { "content-type": answer.headers.get("content-type") ?? "" });
  for await (const chunk of answer.body as AsyncIterable<Uint8Array>) response.write(chunk);
  response.end();
}
