import { spawnSync } from "node:child_process";
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { reportBatch } from "../../backend/cli/batch/report.ts";
import { createClient } from "../../shared/client/index.ts";
import { planOf, runJobs, writeForest } from "../support/cli/batch-run.ts";
import { runReal } from "../support/cli/real-command-line.ts";
import { parallelBeams, scanRows } from "../support/lad/beams.ts";
import { type BackendProcess, startProcess } from "../support/process/backend-process.ts";
import { forestRows } from "../support/scans/forest.ts";
import { poleTree } from "../support/scans/pole-tree.ts";
import { hasChromium, launchBrowser, openWindow } from "../support/window/window-page.ts";

/* Names that are HTML in files, columns and labels: reports and the window show them as they are and run nothing. */

const RUN_MS = 180_000;
/** A file name; it would run as an element, in an attribute, and as an entity. */
const NAME = `<img src=x onerror=hit()>"'&amp;<svg onload=hit()>`;
const COLUMN = `<b/onclick=hit>"'&lt;`;
const HAS_SNAKEMAKE = process.env.APP_TEST_FULL === "1" && spawnSync("snakemake", ["--version"]).status === 0;

describe.skipIf(!hasChromium)("names that are HTML", () => {
  let folder: string;
  let browser: Browser;
  let backend: BackendProcess;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "names-"));
    browser = await launchBrowser();
    backend = await startProcess(join(folder, "served"));
  }, RUN_MS);
  afterAll(async () => {
    await browser?.close();
    await backend?.terminate();
    await rm(folder, { recursive: true, force: true });
  }, RUN_MS);

  const file = async (ending: string, rows: readonly string[]) => {
    const path = join(folder, `${NAME}.${ending}`);
    await writeFile(path, `${rows.join("\n")}\n`);
    return path;
  };

  /** A page on which a script that runs is noticed. */
  async function watched(): Promise<{ page: Page; hits: string[] }> {
    const page = await browser.newPage();
    const hits: string[] = [];
    await page.exposeFunction("hit", () => hits.push("hit"));
    page.on("dialog", (dialog) => {
      hits.push(dialog.message());
      void dialog.dismiss();
    });
    return { page, hits };
  }

  /** Opens a report and tells its text, with the titles of its pictures. Errors: something of a name became an element. */
  async function textOfReport(path: string): Promise<string> {
    const { page, hits } = await watched();
    await page.goto(pathToFileURL(path).href);
    await page.waitForTimeout(200);
    expect(hits).toEqual([]);
    expect(await page.locator("img[onerror], svg[onload], b[onclick], script").count()).toBe(0);
    const titles = await page.locator("[alt]").evaluateAll((all) => all.map((one) => one.getAttribute("alt")));
    const text = `${await page.locator("body").textContent()} ${await page.title()} ${titles.join(" ")}`;
    await page.close();
    return text;
  }

  const withColumn = (rows: readonly string[]) =>
    rows.map((row, i) => (i === 0 ? `${row} ${COLUMN}` : `${row} ${i % 7}`));

  test(
    "in the reports of analyze, inventory, qsm, lad and fit",
    async () => {
      const plot = await file("txt", withColumn(forestRows([{ id: 1, x: 5, y: 6, dbh_m: 0.3, count: 400 }])));
      const tree = await file("xyz", ["x y z", ...poleTree().map((point) => point.join(" "))]);
      const beams = parallelBeams(2, 20, (i) => (i % 3 === 0 ? null : -1 + ((i * 37) % 20) / 10));
      const scan = await file("csv", scanRows(beams).join("\n").replaceAll(" ", ",").split("\n"));
      const curve = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9].map((i) => `${-0.4 * i},${8 / (1 + (0.4 * i) ** 3)},${NAME}`);
      const table = await file("tsv.csv", ["psi,K,CurveID", ...curve]);
      const runs: readonly (readonly [string, readonly string[], readonly string[]])[] = [
        ["analyze", [plot], [NAME, COLUMN]],
        ["inventory", [plot, "--method", "default"], [NAME]],
        ["qsm", [tree], [NAME]],
        ["lad", [scan, "--voxel", "1", "--g", "0.5", "--origin", "-10,0,0", "--box", "-1,-1,-1,1,1,1"], [NAME]],
        ["fit", [table, "--model", "vulnerability"], [NAME]],
      ];
      for (const [command, args, shown] of runs) {
        const out = join(folder, command);
        const draws = command !== "fit";
        const { code, stderr } = await runReal(folder, [command, ...args, "--out", out], undefined, draws);
        expect([code, code === 0 ? "" : stderr], command).toEqual([0, ""]);
        const text = await textOfReport(join(out, "report.html"));
        for (const name of shown) expect(text, command).toContain(name);
        expect(await readFile(join(out, "report.html"), "utf8")).not.toMatch(/<(img|svg)[ /][^>]*on(error|load)/);
      }
    },
    RUN_MS,
  );

  test(
    "in the reports of mesh, register and distance",
    async () => {
      const tree = await file(
        "pts",
        poleTree().map((point) => point.join(" ")),
      );
      const moved = await file(
        "xyz",
        poleTree(0.9).map(([x, y, z]) => [x + 0.02, y, z - 0.01].join(" ")),
      );
      const surface = join(folder, `${NAME}.ply`);
      const register = join(folder, "register");
      const distance = join(folder, "distance");
      const runs: readonly (readonly [args: readonly string[], report: string])[] = [
        [["mesh", tree, "--method", "delaunay", "--out", surface], surface.replace(/\.ply$/, "_report")],
        [["register", moved, tree, "--out", register], register],
        [["distance", tree, surface, "--out", distance], distance],
      ];
      for (const [args, report] of runs) {
        const { code, stderr } = await runReal(folder, args);
        expect([code, code === 0 ? "" : stderr], args[0]).toEqual([0, ""]);
        expect(await textOfReport(join(report, "report.html")), args[0]).toContain(NAME);
      }
    },
    RUN_MS,
  );

  test(
    "in a batch: the folder, the catalogue, the tiles and the report; no shell sees them",
    async () => {
      const name = `${NAME} '; touch hit; $(touch hit) \`touch hit\``;
      const root = join(folder, name);
      await mkdir(root);
      writeForest(join(root, name), { side: 14, cut: 14, ground_per_m2: 12, points_per_tree: 400 });
      const catalog = join(root, `catalog ${name}`);
      expect((await runReal(folder, ["catalog", join(root, name), "--out", catalog], undefined, false)).code).toBe(0);
      const out = await runJobs(root, "ground:\nrasters:\n  cell_m: 1\ntrees:\n", "batch", `catalog ${name}`);
      const plan = planOf(out);
      expect(plan.files.map(({ path }) => path)).toEqual([join(root, name, "t_0_0.las")]);
      await reportBatch(out, plan, [], 200);
      expect(await textOfReport(join(out, "report.html"))).toContain(name);
      if (HAS_SNAKEMAKE) {
        const again = join(root, `again ${name}`);
        const args = ["batch", join(root, "batch.yml"), "--catalog", catalog, "--out", again];
        const { code, stderr } = await runReal(folder, args, undefined, false);
        expect([code, code === 0 ? "" : stderr]).toEqual([0, ""]);
      }
      const all = await readdir(root, { recursive: true });
      expect(all.filter((path) => basename(path) === "hit")).toEqual([]);
    },
    RUN_MS,
  );

  test(
    "in the window: the list of clouds, its columns, their labels and what jobs are called",
    async () => {
      const path = await file("asc", withColumn(forestRows([{ id: 1, x: 5, y: 6, dbh_m: 0.3, count: 300 }])));
      const client = createClient({ baseUrl: backend.url });
      const { session_id } = await client.createSession({ source_path: path });
      const region = { kind: "box" as const, min: [0, 0, 0] as const, max: [9, 9, 9] as const };
      const stroke = {
        stroke_id: NAME,
        to_class: 3,
        region: { ...region, min: [...region.min], max: [...region.max] },
      };
      await client.labelRegion(session_id, { slug: "own", label: NAME, strokes: [stroke as never] });
      await client.commitLabels(session_id, { slug: "own" });
      const { page, problems } = await openWindow(browser, backend.url);
      const hits: string[] = [];
      await page.exposeFunction("hit", () => hits.push("hit"));
      await page.locator(".item[data-session] button").first().click();
      await page.locator(".item[data-session] input[type=checkbox]").waitFor();
      await page.locator('select:has(option[value="column"])').selectOption("column");
      expect(await page.locator("body").textContent()).toContain(NAME);
      await expect
        .poll(async () => (await page.locator("option").allTextContents()).join("\n"))
        .toSatisfy((options: string) => options.includes(COLUMN) && options.includes(NAME));
      expect(await page.locator("img[onerror], svg[onload], b[onclick]").count()).toBe(0);
      expect([hits, problems]).toEqual([[], []]);
      await page.close();
    },
    RUN_MS,
  );
});
