import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { PNG } from "pngjs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type {
  Legend,
  Measurement,
  PickedPoint,
  Profile,
  Selection,
  ViewStats,
} from "../../backend/window/view/cloud-view.ts";
import { createClient } from "../../shared/client/index.ts";
import type { CreateSessionTail } from "../../shared/contract/cloud-session/create.ts";
import type { Point } from "../../shared/contract/geometry.ts";
import type { PolygonRegion } from "../../shared/contract/region.ts";
import { type HeadlessBackend, startHeadless } from "../support/process/headless-backend.ts";
import { hasChromium, launchChromium, serveViewPage, type ViewSite } from "../support/window/browser.ts";

if (!hasChromium) console.log("window view test: skipped, no Chromium (APP_TEST_CHROMIUM)");
const START_MS = 120_000;
/** UTM coordinates: float32 would be off by half a metre. */
const AT: Point = [500_000, 5_400_000, 300];
const TOKEN = "0123456789abcdef0123456789abcdef";

interface Row {
  readonly at: Point;
  readonly tree: number;
}
/** A floor of 10 m, and two stems of 8 m on it. */
const ROWS: readonly Row[] = [
  ...Array.from({ length: 41 * 41 }, (_, i): Row => ({ at: [0.25 * (i % 41), 0.25 * Math.floor(i / 41), 0], tree: 0 })),
  ...Array.from({ length: 401 }, (_, i): Row => ({ at: [3, 5, 0.02 * i], tree: 1 })),
  ...Array.from({ length: 401 }, (_, i): Row => ({ at: [7.13, 6.25, 0.02 * i], tree: 2 })),
].map(({ at, tree }) => ({ at: [at[0] + AT[0], at[1] + AT[1], at[2] + AT[2]], tree }));

interface Told {
  readonly selection: Selection[];
  readonly measure: Measurement[];
  readonly profile: (Omit<Profile, "points" | "colours"> & { points: number[] })[];
  readonly pick: (PickedPoint | null)[];
  readonly problem: string[];
}

describe.skipIf(!hasChromium)("the view in a browser", () => {
  let backend: HeadlessBackend;
  let site: ViewSite;
  let browser: Browser;
  let page: Page;
  let cloud: CreateSessionTail;
  let region: PolygonRegion;
  const problems: string[] = [];
  const inPage = <T>(script: string) => page.evaluate(script) as Promise<T>;
  const told = () => inPage<Told>("told");
  const settled = () => page.waitForFunction("view.stats().pending_nodes === 0 && view.stats().visible_points > 0");
  const corner = async () => (await page.locator("#view canvas").first().boundingBox()) ?? { x: 0, y: 0 };
  const click = async ([x, y]: readonly [number, number]) => {
    const box = await corner();
    await page.mouse.click(box.x + x, box.y + y);
  };
  const drag = async (from: readonly [number, number], ...to: readonly (readonly [number, number])[]) => {
    const box = await corner();
    await page.mouse.move(box.x + from[0], box.y + from[1]);
    await page.mouse.down();
    for (const [x, y] of to) await page.mouse.move(box.x + x, box.y + y, { steps: 4 });
    await page.mouse.up();
  };
  const show = (tail: CreateSessionTail) =>
    inPage(
      `view.addCloud(${JSON.stringify({ session_id: tail.session_id, name: "plot", octree: tail, world_shift: tail.world_shift })})`,
    );
  /** The camera, as a drag over the whole view tells it. */
  const camera = async (): Promise<PolygonRegion> => {
    await inPage('view.setTool("box")');
    await drag([1, 1], [200, 200]);
    await inPage('view.setTool("navigate")');
    return (await told()).selection.at(-1)?.entries[0]?.region as PolygonRegion;
  };

  beforeAll(async () => {
    [site, backend, browser] = await Promise.all([
      serveViewPage(),
      startHeadless({ APP_AUTH_TOKEN: TOKEN }),
      launchChromium(),
    ]);
    const path = join(backend.folder, "plot.xyz");
    await writeFile(path, ROWS.map(({ at, tree }) => `${at.map((x) => x.toFixed(3)).join(" ")} ${tree}\n`).join(""));
    cloud = await createClient({ baseUrl: backend.url, token: TOKEN }).createSession({
      source_path: path,
      ascii_format: "x y z tree_instance",
    });
    page = await browser.newPage({ viewport: { width: 1400, height: 640 } });
    page.on("pageerror", (error) => problems.push(String(error)));
    await page.goto(`${site.url}#${backend.url} ${TOKEN}`);
    await show(cloud);
    await settled();
    region = await camera();
  }, START_MS);
  afterAll(async () => {
    await browser?.close();
    site?.close();
    expect(await backend?.stop()).toBe(0);
    expect(problems).toEqual([]);
  }, START_MS);

  test("shows a class in the colour of the legend, and a highlighted tree in its own", async () => {
    const legend = await inPage<Legend>('view.setColouring({ kind: "class", column: "tree_instance" }), view.legend()');
    if (legend?.kind !== "classes") throw new Error("no legend of classes");
    expect(legend.entries.map(({ label }) => label)).toEqual(["No tree", "Tree 1", "Tree 2"]);
    region = await camera(); // the colouring has more controls, which may have made the view smaller
    const stem = pixelOf(region, ROWS[41 * 41 + 300]?.at ?? AT);
    await inPage('view.setTool("navigate"), view.clearMarks(), view.setPointSize(9)');
    await expect.poll(() => colourAt(stem), { timeout: 20_000 }).toBe(legend.entries[1]?.colour);
    await inPage("view.highlightTree(1)");
    const isOrange = async () => {
      const [red = 0, green = 0, blue = 0] = (await colourAt(stem)).match(/\d+/g)?.map(Number) ?? [];
      return red > 200 && green < 170 && blue < 90;
    };
    await expect.poll(isOrange, { timeout: 20_000 }).toBe(true);
    await inPage("view.highlightTree(null), view.setPointSize(2)");
  });

  test("draws every point, and picks and measures to the millimetre at UTM coordinates", async () => {
    expect((await inPage<ViewStats>("view.stats()")).visible_points).toBe(ROWS.length);
    const [low, high] = [ROWS[41 * 41 + 60], ROWS[41 * 41 + 400]] as [Row, Row];
    await inPage('view.setTool("measure")');
    await click(pixelOf(region, low.at));
    await click(pixelOf(region, high.at));
    const measured = (await told()).measure.at(-1);
    expect(measured?.from[0]).toBeCloseTo(AT[0] + 3, 3);
    expect(measured?.from[1]).toBeCloseTo(AT[1] + 5, 3);
    expect(measured?.to[2]).toBeCloseTo(high.at[2], 3);
    // The pixel of a point may show its neighbours, 2 cm above or below.
    expect(Math.abs((measured?.distance_m ?? 0) - 6.8)).toBeLessThan(0.25);
    expect(measured?.distance_m).toBeCloseTo(measured?.vertical_m ?? 0, 3);
    await inPage('view.setTool("pick")');
    await click(pixelOf(region, ROWS.at(-1)?.at ?? AT));
    const picked = (await told()).pick.at(-1);
    expect(picked?.values).toMatchObject({ tree_instance: 2 });
    expect(picked?.position[0]).toBeCloseTo(AT[0] + 7.13, 3);
    await click([4, 4]);
    expect((await told()).pick.at(-1)).toBeNull();
  });

  test("a profile has the points of its band, and only they", async () => {
    await inPage('view.setTool("profile"), view.setProfileWidth(0.6)');
    const ends: [Point, Point] = [
      [AT[0], AT[1] + 5, AT[2]],
      [AT[0] + 10, AT[1] + 5, AT[2]],
    ];
    for (const end of ends) await click(pixelOf(region, end));
    const profile = (await told()).profile.at(-1);
    if (!profile) throw new Error("no profile");
    const expected = ROWS.filter(({ at }) => inBand(at, profile.from, profile.to, 0.3)).length;
    expect(expected).toBeGreaterThan(400);
    expect(profile.points.length / 2).toBe(expected);
    expect(profile.is_complete).toBe(true);
    const heights = profile.points.filter((_, i) => i % 2 === 1);
    expect(Math.max(...heights)).toBeCloseTo(AT[2] + 8, 2);
    expect(await page.locator("#profile-panel").isVisible()).toBe(true);
    await page.locator("#profile-panel button").click();
  });

  test("a clip box hides points from the picture and from picking", async () => {
    const box = { min: [AT[0] - 1, AT[1] - 1, AT[2] - 1], max: [AT[0] + 5, AT[1] + 11, AT[2] + 9] };
    await inPage(`view.setClipBox(${JSON.stringify(box)}), view.setTool("pick")`);
    await click(pixelOf(region, ROWS.at(-1)?.at ?? AT));
    expect((await told()).pick.at(-1)).toBeNull();
    await inPage("view.selectClipBox()");
    const entry = (await told()).selection.at(-1)?.entries[0];
    expect(entry?.region).toEqual({ kind: "box", ...box });
    await inPage("view.setClipBox(null)");
  });

  test.each(["box", "lasso", "brush"] as const)("what a %s selects is what the service deletes", async (tool) => {
    const client = createClient({ baseUrl: backend.url, token: TOKEN });
    const top = pixelOf(region, ROWS[41 * 41 + 350]?.at ?? AT);
    await inPage(`view.setTool("${tool}"), view.setBrushSize(10)`);
    if (tool === "lasso")
      await drag([top[0] - 25, top[1] - 20], [top[0] + 25, top[1] - 22], [top[0] + 20, top[1] + 20]);
    else await drag([top[0] - 25, top[1] - 20], [top[0] + 25, top[1] + 20]);
    const entry = (await told()).selection.at(-1)?.entries[0];
    if (tool === "lasso") expect(entry?.region.kind).toBe("polygon");
    else expect(entry?.region.kind).toBe(tool === "box" ? "polygon" : "squares_union");
    if (!entry) throw new Error("no selection");
    const { deleted_count } = await client.deleteRegion(cloud.session_id, { region: entry.region });
    const expected = ROWS.filter(({ at }) => isInRegion(entry.region as never, at)).length;
    expect(expected).toBeGreaterThan(10);
    expect(deleted_count).toBe(expected);
    await client.resetEdits(cloud.session_id, { edit_count: 0 });
  });

  test("another octree replaces the first, and a removed cloud leaves an empty view", async () => {
    const client = createClient({ baseUrl: backend.url, token: TOKEN });
    await client.filter(cloud.session_id, { scalar_filters: [{ slug: "tree_instance", values: [2] }], rebuild: false });
    const { cache_id, attributes } = await client.rebuildOctree(cloud.session_id);
    await show({ ...cloud, cache_id, attributes });
    await page.waitForFunction("view.stats().visible_points === 401");
    await inPage(`view.removeCloud("${cloud.session_id}")`);
    await page.waitForFunction("view.stats().visible_points === 0");
    expect(await inPage("view.bounds()")).toBeNull();
    expect((await told()).problem).toEqual([]);
  });

  test("the page at /app takes the token out of its address, and breaks no rule of its policy", async () => {
    const own = await browser.newPage();
    const complaints: string[] = [];
    own.on("pageerror", (error) => complaints.push(String(error)));
    own.on("console", (message) => {
      if (message.type() === "error") complaints.push(message.text());
    });
    own.on("request", (request) => {
      if (!request.url().startsWith(backend.url)) complaints.push(request.url());
    });
    await own.goto(`${backend.url}/app#token=${TOKEN}`);
    await own.locator("#view canvas").first().waitFor();
    expect(own.url()).toBe(`${backend.url}/app`);
    expect(await own.title()).toBe("Point clouds");
    expect(await own.evaluate("fetch('https://example.org/').then(() => 'sent', () => 'refused')")).toBe("refused");
    expect(complaints.filter((text) => !text.includes("https://example.org/"))).toEqual([]);
    expect(complaints.join()).toContain("Content Security Policy");
  });

  test("where the browser cannot draw, the page says so, and the panels work", async () => {
    const own = await browser.newPage();
    const errors: string[] = [];
    own.on("pageerror", (error) => errors.push(String(error)));
    await own.addInitScript("HTMLCanvasElement.prototype.getContext = () => null");
    await own.goto(`${backend.url}/app#token=${TOKEN}`);
    expect(await own.locator(".view-message").first().textContent()).toContain("WebGL 2 is not available");
    await own.locator("#open-panel input").first().waitFor();
    await own.locator("#clouds-panel").getByText("plot.xyz").waitFor();
    expect(errors).toEqual([]);
    await own.close();
  });

  /** CSS colour of a pixel of the view. */
  async function colourAt([x, y]: readonly [number, number]): Promise<string> {
    const box = await corner();
    const clip = { x: Math.round(box.x + x), y: Math.round(box.y + y), width: 1, height: 1 };
    const { data } = PNG.sync.read(await page.screenshot({ clip }));
    return `rgb(${data[0]} ${data[1]} ${data[2]})`;
  }
});

/** The formula of the contract of regions. */
function pixelOf({ projection, view, canvas }: PolygonRegion, [x, y, z]: Point): [number, number] {
  const eye = [0, 1, 2, 3].map(
    (r) => (view[r] ?? 0) * x + (view[4 + r] ?? 0) * y + (view[8 + r] ?? 0) * z + (view[12 + r] ?? 0),
  );
  const clip = [0, 1, 2, 3].map((r) => eye.reduce((sum, value, c) => sum + (projection[4 * c + r] ?? 0) * value, 0));
  const w = clip[3] ?? 1;
  return [(((clip[0] ?? 0) / w + 1) / 2) * canvas.width, (1 - ((clip[1] ?? 0) / w + 1) / 2) * canvas.height];
}

type Squares = Omit<PolygonRegion, "kind" | "points"> & {
  kind: "squares_union";
  centers: [number, number][];
  half_sizes: number[];
};

function isInRegion(region: PolygonRegion | Squares, at: Point): boolean {
  const [px, py] = pixelOf(region as PolygonRegion, at);
  if (region.kind === "squares_union")
    return region.centers.some(
      ([cx, cy], i) => Math.max(Math.abs(px - cx), Math.abs(py - cy)) <= (region.half_sizes[i] ?? 0),
    );
  let inside = false;
  for (const [i, [xi, yi]] of region.points.entries()) {
    const [xj, yj] = region.points.at(i - 1) ?? [0, 0];
    if (yi > py !== yj > py && px < ((xj - xi) * (py - yi)) / (yj - yi) + xi) inside = !inside;
  }
  return inside;
}

function inBand(at: Point, from: Point, to: Point, half: number): boolean {
  const length = Math.hypot(to[0] - from[0], to[1] - from[1]);
  const [ux, uy] = [(to[0] - from[0]) / length, (to[1] - from[1]) / length];
  const along = (at[0] - from[0]) * ux + (at[1] - from[1]) * uy;
  const across = (at[1] - from[1]) * ux - (at[0] - from[0]) * uy;
  return along >= -1e-6 && along <= length + 1e-6 && Math.abs(across) <= half;
}
