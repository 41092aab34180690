import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { PNG } from "pngjs";
import { beforeEach, describe, expect, test } from "vitest";
import { Archive } from "../../backend/services/projects/archive-read.ts";
import { projectSummary, verifyProject } from "../../backend/services/projects/inspect.ts";
import { decodeScene } from "../../shared/wire/psc1-decode.ts";
import { runReal } from "../support/cli/real-command-line.ts";
import { folderOfTest } from "../support/run/folders.ts";
import { stopwatch, type Times } from "../support/run/stopwatch.ts";
import { e57Bytes, e57Points } from "../support/scans/e57-bytes.ts";
import { writeSpiral } from "../support/scans/scans.ts";

const MAIN = fileURLToPath(new URL("../../dist/backend/entry/headless.js", import.meta.url));

let folder = "";
let out = "";
beforeEach(() => {
  folder = folderOfTest("analyze-");
  out = join(folder, "out");
});

interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs the built command line; `onStderr` sees what it has said so far. */
async function command(
  args: readonly string[],
  onStderr: (text: string, interrupt: () => void, pid: number) => void = () => undefined,
) {
  if (!existsSync(MAIN)) throw new Error(`${MAIN} is missing; run "npm run build" first`);
  const child = spawn(process.execPath, [MAIN, ...args], {
    env: {
      ...process.env,
      APP_DATA_DIR: join(folder, "data"),
      APP_OCTREE_CACHE_ROOT: join(folder, "octrees"),
      APP_AUTH_TOKEN: "",
    },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let stdout = "";
  let stderr = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    stdout += text;
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    stderr += text;
    onStderr(stderr, () => child.kill("SIGINT"), child.pid ?? process.pid);
  });
  const [code] = (await once(child, "close")) as [number | null];
  return { code, stdout, stderr } satisfies Ended;
}

/** The same in this process, without the start of one. */
const here = (args: readonly string[]) => runReal(folder, args, undefined, false);

test("a text cloud becomes report, pictures and copy; --json names their paths", async () => {
  const cloud = join(folder, "spiral.xyz");
  const count = await writeSpiral(cloud, 20_000);
  const { code, stdout, stderr } = await command([
    ...["analyze", cloud, "--out", out, "--json", "--picture-size", "300", "--scene", "plot"],
    ...["--project", join(folder, "kept", "spiral.proj")],
  ]);
  expect(stderr).toContain("Drawing pictures");
  expect(code).toBe(0);
  const result = JSON.parse(stdout);
  expect(result.counts).toMatchObject({ points: count, rows: count, misses: 0 });
  expect(result.sample).toEqual({ points: count, of: count });
  expect(result.extent_m[2]).toBeCloseTo(10 * (1 - 1 / count), 2);
  expect(result.density.is_estimate).toBe(false);
  expect(await readdir(out)).toHaveLength(3 + result.outputs.pictures.length + result.outputs.rasters.length);
  for (const path of result.outputs.pictures) {
    const { width, height, data } = PNG.sync.read(await readFile(path));
    expect(Math.max(width, height)).toBeGreaterThan(300); // 300 without axes and legend
    expect(Math.max(width, height)).toBeLessThan(700);
    expect(data.some((value) => value < 128)).toBe(true);
  }
  const copy = await readFile(result.outputs.copy);
  expect(copy.subarray(0, 4).toString()).toBe("LASF");
  expect(Number(copy.readBigUInt64LE(247))).toBe(count); // LAS 1.4: number of point records
  expect(await readFile(result.outputs.report, "utf8")).toContain("<h1>spiral.xyz</h1>");
  const { project } = result.outputs;
  expect(await readdir(join(folder, "kept"))).toEqual(["spiral.proj"]);
  const { sessions } = await projectSummary(project);
  expect(sessions).toMatchObject([{ source: cloud, rows: count }]);
  expect(sessions[0]?.columns).toEqual(expect.arrayContaining(["noise_class", "ground_class"]));
  expect(await verifyProject(project, new AbortController().signal)).toBeGreaterThan(4);
  const archive = await Archive.open(project);
  const scene: Buffer[] = [];
  for await (const chunk of archive.chunks("scene.bin")) scene.push(chunk);
  archive.close();
  const cacheId = expect.stringMatching(/^[0-9a-f]{40}$/);
  expect(decodeScene(Buffer.concat(scene))).toEqual({
    clouds: [{ sessionId: sessions[0]?.key, name: "spiral.xyz", cacheId, missOctreeCacheId: null }],
  });
  // The service of the run has left nothing but its cache.
  expect((await readdir(folder)).filter((name) => name.startsWith("."))).toEqual([]);
});

test("Ctrl-C exits 130 and leaves the output folder unchanged", async () => {
  const cloud = join(folder, "large.xyz");
  await writeSpiral(cloud, 400_000);
  await mkdir(out);
  await writeFile(join(out, "report.html"), "an older report");
  let stop: (() => Times) | undefined;
  let times: Times | undefined;
  const { code, stdout, stderr } = await command(
    ["analyze", cloud, "--out", out, "--force"],
    (text, interrupt, pid) => {
      if (!stop && text.includes("Reading the cloud")) {
        stop = stopwatch(pid);
        interrupt();
      }
    },
  ).finally(() => {
    times = stop?.();
  });
  expect([code, stdout]).toEqual([130, ""]);
  expect(stderr).toContain("Canceled; nothing was written.");
  expect(times?.own_ms, JSON.stringify(times)).toBeLessThan(1250); // to cancel, and to stop the service
  expect(await readdir(out)).toEqual(["report.html"]);
});

test("a file that is not a cloud exits 2 with the reason and creates no folder", async () => {
  const cloud = join(folder, "broken.las");
  await writeFile(cloud, "this is no LAS file");
  const { code, stdout, stderr } = await command(["analyze", cloud, "--out", out, "--json"]);
  expect([code, stdout]).toEqual([2, ""]);
  expect(stderr).toContain("broken.las");
  expect(existsSync(out)).toBe(false);
});

describe("edits before the report", () => {
  /** Points at x = 0, 1, ..., 9 in the world at 476000, class = x mod 3. */
  const line = async (name: string, y: number) => {
    const path = join(folder, name);
    const rows = Array.from({ length: 10 }, (_, x) => `${476000 + x} ${y} ${x / 10} ${x % 3}`);
    await writeFile(path, ["x y z class", ...rows].join("\n"));
    return path;
  };
  const SHIFT = ["--shift", "476000,0,0"];

  test("merge, crop in true world coordinates and filter; the copy contains what is left", async () => {
    const [first, second] = [await line("a.txt", 0), await line("b.txt", 5)];
    // x 476002 to 476008 of both lines: 14 points, those of class 1 and 2: x = 2, 4, 5, 7, 8
    const rules = ["--crop", "476002,-1,-1,476008,9,9", "--filter", "class=1,2"];
    const { code, stdout } = await here([
      ...["analyze", first, "--merge", second, ...SHIFT, ...rules, "--out", out, "--format", "csv", "--json"],
      ...["--picture-size", "200"],
    ]);
    expect(code).toBe(0);
    const result = JSON.parse(stdout);
    expect(result).toMatchObject({
      counts: { points: 10, rows: 20 },
      edits: { merged: [{ path: second, points: 10, rows: 10 }], points_before: 20, points_dropped: 10 },
      bounds_world: { min: [476002, 0, 0.2], max: [476008, 5, 0.8] },
      world_shift: [476000, 0, 0],
    });
    const [header = "", ...rows] = (await readFile(result.outputs.copy, "utf8")).trim().split("\n");
    expect(header).toMatch(/^x,/i);
    expect(rows.map((row) => Number(row.split(",")[0])).sort()).toEqual(
      [2, 2, 4, 4, 5, 5, 7, 7, 8, 8].map((x) => 476000 + x),
    );
    const report = await readFile(result.outputs.report, "utf8");
    expect(report.includes("<td>b.txt (10 points)</td>")).toBe(true);
    expect(report.includes("Points dropped</th><td>10 of 20</td>")).toBe(true);
  });

  test.each([
    [["--filter", "clas=1..2"], /Unknown scalar attribute: 'clas'\. Available: \[class\]/],
    [
      ["--crop", "0,0,0,1,1,1", "--filter", "class=1.."],
      /no point is left by --crop 0,0,0,1,1,1 and --filter class=1\.\.: the cloud extends from 476000, 0, 0 to 476009, 0, 0\.9; use a larger box or range/,
    ],
  ])("%j exits 2 with a way out", async (rules, message) => {
    const { code, stdout, stderr } = await here(["analyze", await line("a.txt", 0), ...SHIFT, ...rules, "--out", out]);
    expect([code, stdout]).toEqual([2, ""]);
    expect(stderr).toMatch(message);
    expect(existsSync(out)).toBe(false);
  });

  test("the copy never replaces a merged file", async () => {
    const first = await line("a.txt", 0);
    const { code } = await here(["analyze", first, "--out", out, "--format", "csv", "--picture-size", "200"]);
    expect(code).toBe(0);
    const copy = join(out, "a_copy.csv");
    const before = await readFile(copy, "utf8");
    const again = await here(["analyze", first, "--merge", copy, "--out", out, "--format", "csv", "--force"]);
    expect([again.code, await readFile(copy, "utf8")]).toEqual([2, before]);
    expect(again.stderr).toMatch(/would be replaced by the copy of this run; choose another --out or --format/);
  });
});

test("a file without points, alone or merged, exits 2 with one line", async () => {
  const empty = join(folder, "empty.e57");
  const cloud = join(folder, "one.xyz");
  await writeFile(empty, e57Bytes([e57Points([])]));
  await writeFile(cloud, "1 2 3\n4 5 6\n");
  for (const files of [[empty], [cloud, "--merge", empty]]) {
    const { code, stdout, stderr } = await here(["analyze", ...files, "--out", out]);
    expect([code, stdout]).toEqual([2, ""]);
    expect(stderr.trimEnd().split("\n").at(-1)).toBe(`${empty} contains no points; there is nothing to analyze`);
    expect(existsSync(out)).toBe(false);
  }
});
