import { spawn, spawnSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { programPath } from "../../backend/cli/batch/program.ts";
import { planOf, runJobs, writeForest } from "../support/cli/batch-run.ts";
import { runReal as command } from "../support/cli/real-command-line.ts";
import { folderOfTest } from "../support/run/folders.ts";
import { stopwatch } from "../support/run/stopwatch.ts";
import { writeEmptyTile } from "../support/scans/las-tiles.ts";

const WORKFLOW = "tiles:\n  buffer_m: 6\nground:\nrasters:\n  cell_m: 1\ntrees:\ninventory:\n";
const isInstalled = process.env.APP_TEST_FULL === "1" && spawnSync("snakemake", ["--version"]).status === 0;
if (!isInstalled) console.warn("without APP_TEST_FULL=1 and Snakemake, runs of a batch are not tested");

let root = "";
let out = "";
beforeEach(() => {
  root = folderOfTest("batch-");
  out = join(root, "out");
  writeFileSync(join(root, "workflow.yml"), WORKFLOW);
});
const args = (...more: string[]) => [
  "batch",
  join(root, "workflow.yml"),
  "--catalog",
  join(root, "catalog"),
  "--out",
  out,
  ...more,
];
async function catalogOf(folder: string): Promise<void> {
  expect((await command(root, ["catalog", folder, "--out", join(root, "catalog")])).code).toBe(0);
}

test("1,000 tiles of 1 M points are planned within 10 s", async () => {
  const flight = join(root, "flight");
  mkdirSync(flight);
  for (let i = 0; i < 1000; i += 1) {
    const [x, y] = [476_000 + 250 * (i % 40), 5_429_000 + 250 * Math.floor(i / 40)];
    writeEmptyTile(join(flight, `t${i}.las`), { points: 1_000_000, min: [x, y, 0], max: [x + 249.99, y + 249.99, 40] });
  }
  const stop = stopwatch();
  await catalogOf(flight);
  expect((await command(root, args("--plan"))).code).toBe(0);
  const times = stop();
  expect(times.own_ms, JSON.stringify(times)).toBeLessThan(10_000);
  const { tiles, tile_m, buffer_m } = planOf(out);
  expect([tiles.length, tile_m, buffer_m]).toEqual([1000, 250, 6]);
  const corner = tiles[0];
  expect(corner?.files).toHaveLength(4);
  expect((corner?.points ?? 0) / (1e6 * (256 / 250) ** 2)).toBeCloseTo(1, 2);
  expect(planOf(out).windows).toHaveLength(9);
  for (const name of ["Snakefile", "config.json", "slurm/config.yaml", "slurm/slurm-status.sh", "workflow.yml"])
    expect([name, existsSync(join(out, name))]).toEqual([name, true]);
});

describe("refusals", () => {
  beforeEach(async () => {
    mkdirSync(join(root, "flight"));
    const max = [476_100, 5_429_100, 9] as const;
    writeEmptyTile(join(root, "flight", "a.las"), { points: 100_000, min: [476_000, 5_429_000, 0], max });
    await catalogOf(join(root, "flight"));
  });
  const refused = async (...more: string[]) => {
    const { code, stderr } = await command(root, args(...more));
    expect(code).toBe(2);
    return stderr;
  };

  test("a workflow names the line, the key and the rule", async () => {
    writeFileSync(join(root, "workflow.yml"), "ground:\ntres:\n");
    expect(await refused()).toMatch(/workflow\.yml, line 2: tres is not known; did you mean trees\?/);
  });
  test("cells that do not divide the tile", async () => {
    writeFileSync(join(root, "workflow.yml"), "ground:\nrasters:\n  cell_m: 0.3\n");
    expect(await refused("--plan")).toMatch(/cell_m 0\.3 does not divide/);
  });
  test("a folder with results of another workflow", async () => {
    expect((await command(root, args("--plan"))).code).toBe(0);
    expect((await command(root, args("--plan"))).code).toBe(0);
    writeFileSync(join(root, "workflow.yml"), "ground:\n");
    expect(await refused("--plan")).toMatch(/another workflow or catalogue.*--force/s);
    expect((await command(root, args("--plan", "--force"))).code).toBe(0);
  });
  test("jobs of a batch that was killed: --force removes nothing that they write", async () => {
    expect((await command(root, args("--plan"))).code).toBe(0);
    const tile = join(out, "tiles", "a.json");
    mkdirSync(join(out, "tiles"));
    writeFileSync(tile, "{}");
    writeFileSync(join(root, "workflow.yml"), "ground:\n");
    const { PATH } = process.env;
    writeFileSync(join(root, "squeue"), "#!/bin/sh\necho 41\n", { mode: 0o755 });
    process.env.PATH = `${root}:${PATH}`;
    try {
      expect((await command(root, args("--plan", "--force"))).stderr).toMatch(/1 job of a batch that was killed/);
    } finally {
      process.env.PATH = PATH;
    }
    expect(existsSync(tile)).toBe(true);
    expect((await command(root, args("--plan", "--force"))).code).toBe(0);
    expect(existsSync(tile)).toBe(false);
  });
  test("a folder with results of another version of the program", async () => {
    expect((await command(root, args("--plan"))).code).toBe(0);
    const plan = planOf(out);
    expect(plan.program).toMatch(/^\d+\.\d+\.\d+ \([0-9a-f]{12}\)$/);
    writeFileSync(join(out, "plan.json"), JSON.stringify({ ...plan, program: "0.0.1 (000000000000)" }));
    expect(await refused("--plan")).toMatch(/another version of this program, 0\.0\.1 \(0+\); .*--force/s);
    expect((await command(root, args("--plan", "--force"))).code).toBe(0);
    expect(planOf(out).program).toBe(plan.program);
  });
  test("jobs of another version of the program", async () => {
    expect((await command(root, args("--plan"))).code).toBe(0);
    const plan = planOf(out);
    writeFileSync(join(out, "plan.json"), JSON.stringify({ ...plan, program: "0.0.1 (000000000000)" }));
    for (const job of [
      ["batch-measure", out],
      ["batch-tile", out, plan.tiles[0]?.id ?? ""],
      ["batch-merge", out],
    ]) {
      const { code, stderr } = await command(root, job, undefined, false);
      expect([code === 0, stderr]).toEqual([false, expect.stringContaining("planned by version 0.0.1 (000000000000)")]);
    }
  });
  test("files with different scale factors", async () => {
    const max = [476_200, 5_429_100, 9] as const;
    const b = { points: 100_000, min: [476_100, 5_429_000, 0], max, scale: 0.01 } as const;
    writeEmptyTile(join(root, "flight", "b.las"), b);
    rmSync(join(root, "catalog"), { recursive: true });
    await catalogOf(join(root, "flight"));
    expect(await refused("--plan")).toMatch(
      /different scale factors \(0\.001 0\.001 0\.001: a\.las; 0\.01 0\.01 0\.01: b\.las\)/,
    );
  });
  test("a file that is cut off is told by the plan", async () => {
    const path = join(root, "flight", "a.las");
    truncateSync(path, statSync(path).size - 20 * 60_000);
    rmSync(join(root, "catalog"), { recursive: true });
    await catalogOf(join(root, "flight"));
    expect((await command(root, args("--plan"))).code).toBe(0);
    expect(planOf(out).warnings).toContainEqual(expect.stringMatching(/^a\.las: .*60000 points are missing/));
  });
  test("no catalogue", async () => {
    rmSync(join(root, "catalog"), { recursive: true });
    expect(await refused()).toMatch(/no readable catalog\.json/);
  });
  test("no Snakemake: the sentence names the package", async () => {
    const { PATH } = process.env;
    process.env.PATH = "";
    try {
      expect(await refused()).toMatch(/apt-get install snakemake/);
    } finally {
      process.env.PATH = PATH;
    }
  });
});

/** All results that do not depend on the clock, by name. */
function resultsOf(folder: string): Map<string, string> {
  const names = readdirSync(folder, { recursive: true }) as string[];
  const kept = names.filter((name) => /^(merged|clouds|tiles)\//.test(name) && !/times\.json$/.test(name));
  const files = kept.filter((name) => statSync(join(folder, name)).isFile()).sort();
  return new Map(files.map((name) => [name, readFileSync(join(folder, name)).toString("base64")]));
}

/** Starts the command as a process and kills it and its jobs once `when` holds. */
async function killedRun(when: () => boolean): Promise<void> {
  const places = { APP_DATA_DIR: join(root, "data"), APP_OCTREE_CACHE_ROOT: join(root, "octrees") };
  const child = spawn(process.execPath, [programPath(), ...args("--cores", "2")], {
    env: { ...process.env, ...places },
    stdio: "ignore",
  });
  const closed = new Promise((done) => child.once("close", done));
  const ends = Date.now() + 100_000;
  while (!when() && Date.now() < ends && child.exitCode === null) await new Promise((done) => setTimeout(done, 20));
  child.kill("SIGTERM"); // its handler ends the scheduler and the jobs
  await closed;
}

test.skipIf(!isInstalled)(
  "a run that was ended goes on; a failed tile is reported; the bytes are the same",
  { timeout: 600_000 }, // 15 processes of about a second, and three starts of the scheduler
  async () => {
    writeForest(join(root, "flight"), { side: 24, cut: 12, ground_per_m2: 12, points_per_tree: 600 });
    await catalogOf(join(root, "flight"));
    const expected = resultsOf(await runJobs(root, WORKFLOW, "reference"));
    expect([...expected.keys()].filter((name) => name.endsWith(".laz"))).toHaveLength(4);
    // The third of two jobs at a time begins when the scheduler has seen one end.
    const names = (folder: string) => (existsSync(join(out, folder)) ? readdirSync(join(out, folder)) : []);
    await killedRun(() => names("logs").filter((name) => name.startsWith("x")).length >= 3);
    const [first = ""] = names("tiles").filter((name) => existsSync(join(out, "tiles", name, "result.json")));
    const made = statSync(join(out, "tiles", first, "result.json")).mtimeMs;
    expect([existsSync(join(out, "report.html")), existsSync(join(out, "merged"))]).toEqual([false, false]);

    const late = planOf(out).tiles.find(({ id }) => !existsSync(join(out, "tiles", id, "result.json")))?.id ?? "";
    const blocked = join(out, "tiles", late, "dtm.tif");
    mkdirSync(join(blocked, "folder"), { recursive: true }); // the job cannot move its raster there and fails
    const failed = await command(root, args("--cores", "2"));
    expect([failed.code, failed.stderr]).toEqual([1, expect.stringContaining("1 of 4 tiles failed")]);
    const summary = JSON.parse(readFileSync(join(out, "summary.json"), "utf8"));
    expect(summary.failed).toEqual([{ tile: late, reason: expect.stringContaining("dtm.tif") }]);
    expect(readFileSync(join(out, "report.html"), "utf8")).toContain(`${late} failed`);
    expect(readFileSync(join(out, "merged", "chm.vrt"), "utf8").match(/<SourceFilename/g)).toHaveLength(3);

    rmSync(blocked, { recursive: true });
    const resumed = await command(root, args("--cores", "2"));
    expect([resumed.code, resumed.stderr]).toEqual([0, expect.stringContaining("Running 4 tiles")]);
    expect(resultsOf(out)).toEqual(expected);
    expect(statSync(join(out, "tiles", first, "result.json")).mtimeMs).toBe(made); // not run again
  },
);
