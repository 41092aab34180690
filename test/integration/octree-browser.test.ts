import { existsSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { type Browser, chromium, type Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { z } from "zod";
import { createClient } from "../../shared/client/index.ts";
import type { CreateSessionRequest, CreateSessionTail } from "../../shared/contract/cloud-session/create.ts";
import type { OctreeView } from "../support/octree/octree-viewer.ts";
import { readPicture } from "../support/octree/picture.ts";
import { type HeadlessBackend, startHeadless } from "../support/process/headless-backend.ts";
import { SPIRAL_FORMAT, testScan, writeSpiral } from "../support/scans/scans.ts";

const executablePath = process.env.APP_TEST_CHROMIUM ?? "/usr/bin/chromium";
const hasChromium = existsSync(executablePath);
if (!hasChromium) console.log(`octree browser test: skipped, no Chromium at ${executablePath} (APP_TEST_CHROMIUM)`);
const scan = testScan(join("trees_tls", "itsme_tree1.las"));

const START_MS = 120_000;
const GENERATED_POINTS = 60_000;
/** The renderer moves the octree to its origin in float64, and back it is not the same last bit. */
const REORIGIN_M = 1e-9;
/** The renderer keeps points in float32 relative to their node; these clouds are less than 64 m wide. */
const FLOAT32_M = 64 * 2 ** -24;

/** The client's renderer, in a real browser, on an octree that this service built and serves. */
describe.skipIf(!hasChromium)("an octree in the browser", () => {
  let backend: HeadlessBackend;
  let site: Server;
  let browser: Browser;
  let page: Page;
  const problems: string[] = [];
  const octreeRequests: { range: string | undefined; status: number }[] = [];

  beforeAll(async () => {
    const html = await viewerPage();
    site = createServer((_, response) => response.setHeader("content-type", "text/html").end(html));
    await new Promise<void>((resolve) => site.listen(0, "127.0.0.1", resolve));
    backend = await startHeadless();
    const args = ["--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"];
    browser = await chromium.launch({ executablePath, args });
    page = await browser.newPage({ viewport: { width: 800, height: 600 } });
    page.on("pageerror", (error) => problems.push(String(error)));
    page.on("response", (response) => {
      const request = response.request();
      if (request.url().endsWith("/octree.bin") && request.method() === "GET") {
        octreeRequests.push({ range: request.headers().range, status: response.status() });
      }
    });
  }, START_MS);
  afterAll(async () => {
    await browser?.close();
    site?.close();
    site?.closeAllConnections();
    expect(await backend?.stop()).toBe(0);
  }, START_MS);

  /** Creates a session, shows its octree and checks all that holds for every cloud. */
  const show = async (request: z.input<typeof CreateSessionRequest>) => {
    const created = await createClient({ baseUrl: backend.url }).createSession(request);
    octreeRequests.length = 0;
    await page.goto(`http://127.0.0.1:${(site.address() as AddressInfo).port}/`);
    const call = `viewOctree("${backend.url}/octree/${created.cache_id}/", ${created.point_count})`;
    const shown = await inPage<OctreeView>(page, call);
    const picture = readPicture(await page.screenshot());
    console.log(
      `octree in the browser: ${shown.point_count} points, ${shown.node_count} nodes, ${picture.lit} lit pixels`,
    );
    expectWhole(shown, created);
    // One part per node, never the whole file.
    expect(octreeRequests.length).toBeGreaterThanOrEqual(shown.node_count);
    expect(
      octreeRequests.filter(({ range, status }) => status !== 206 || !/^bytes=\d+-\d+$/.test(range ?? "")),
    ).toEqual([]);
    expect(problems).toEqual([]);
    return { created, shown, picture };
  };

  test.skipIf(!scan)(
    "shows all levels of a scan",
    async () => {
      const { picture } = await show({ source_path: scan ?? "" });
      expect(picture.lit).toBeGreaterThan(1_000);
      expect(picture.height).toBeGreaterThan(150); // the tree is as high as the octree's cube
      expect(picture.width).toBeGreaterThan(10);
    },
    START_MS,
  );

  test(
    "shows a coloured cloud in the right orientation",
    async () => {
      const source_path = join(backend.folder, "spiral.xyz");
      await writeSpiral(source_path, GENERATED_POINTS);
      const { created, shown, picture } = await show({ source_path, ascii_format: SPIRAL_FORMAT });
      expect(created.point_count).toBe(GENERATED_POINTS);
      expect(shown.attributes).toContain("rgba");
      expect(picture.lit).toBeGreaterThan(10_000);
      expect(picture.height).toBeGreaterThan(150);
      expect(picture.green_row + 75).toBeLessThan(picture.red_row); // green is its upper half
    },
    START_MS,
  );
});

/** The value of a promise in the page. A failure comes as an error of ours: the page's own has a stack of page addresses. */
async function inPage<T>(page: Page, promise: string): Promise<T> {
  const outcome = await page.evaluate(`${promise}.then((value) => ({ value }), (error) => ({ error: String(error) }))`);
  const { value, error } = outcome as { value: T; error?: string };
  if (error !== undefined) throw new Error(`in the page: ${error}`);
  return value;
}

/** Every level and point arrived, where the answer said that they are. */
function expectWhole(shown: OctreeView, created: CreateSessionTail): void {
  expect(shown.point_count).toBe(created.point_count);
  expect(shown.node_count).toBeGreaterThan(1);
  expect(shown.deepest_level).toBeGreaterThan(0);
  expectBox(shown.bounds, created.bounds, REORIGIN_M);
  const rounding = Math.max(...created.scale) / 2; // to the octree's integers
  expectBox(shown.drawn, created.tight_bounds ?? created.bounds, rounding + FLOAT32_M);
  const names = created.attributes.map(({ name }) => (name === "rgb" ? "rgba" : name)); // as the renderer calls it
  expect([...shown.attributes].sort()).toEqual(names.sort());
}

function expectBox(
  actual: OctreeView["bounds"],
  expected: { min: readonly number[]; max: readonly number[] },
  tolerance_m: number,
): void {
  for (const corner of ["min", "max"] as const) {
    const off = actual[corner].map((value, axis) => Math.abs(value - (expected[corner][axis] ?? Number.NaN)));
    expect(Math.max(...off), `${corner} ${actual[corner]} for ${expected[corner]}`).toBeLessThanOrEqual(tolerance_m);
  }
}

/** The viewer as one page without further files. */
async function viewerPage(): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(new URL("../support/octree/octree-viewer.ts", import.meta.url))],
    bundle: true,
    write: false,
    format: "iife",
    platform: "browser",
    target: "es2022",
    logLevel: "error",
  });
  const script = outputFiles[0]?.text.replaceAll("</script", "<\\/script");
  return `<!doctype html><meta charset="utf-8"><style>body{margin:0;background:#000}</style><body><script>${script}</script>`;
}
