import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { UNITS } from "../../../backend/cli/analyze/options.ts";
import { fakeService, smallOctree, smallTail } from "../../support/cli/analyze-fake.ts";
import { runFake as run } from "../../support/cli/fake-command-line.ts";
import { makeOctree } from "../../support/octree/potree2-fixture.ts";
import { folderOfTest } from "../../support/run/folders.ts";

let root = "";
let cloud = "";
let out = "";
beforeEach(() => {
  root = folderOfTest("analyze-");
  cloud = join(root, "plot <1>.xyz");
  out = join(root, "out");
  writeFileSync(cloud, "1 2 3\n");
  writeFileSync(join(root, "empty.las"), "");
});

describe("serve", () => {
  test.each([
    [[], {}],
    [["serve", "--port", "8008"], { port: 8008 }],
    [["--port", "0", "--data-dir", "/data"], { port: 0, dataDir: "/data" }],
  ])("%j serves", async (argv, request) => {
    const { code, served } = await run(argv);
    expect(code).toBeUndefined();
    expect(served).toEqual([request]);
  });
});

describe("analyze", () => {
  test("writes report, pictures and copy, prints the table and exits 0", async () => {
    const service = fakeService();
    const { code, stdout, stderr, started, stopped } = await run(["analyze", cloud, "--out", out], service);
    expect(code).toBe(0);
    expect(readdirSync(out).sort()).toEqual([
      "front_height.png",
      "front_rgb.png",
      "plot <1>_copy.las",
      "report.html",
      "side_height.png",
      "side_rgb.png",
      "summary.json",
      "top_height.png",
      "top_rgb.png",
    ]);
    expect(stdout).toMatch(/^Points +27$/m);
    expect(stdout).toMatch(/^Minimum x, y, z +476 010\.000, 5 429 020\.000, 30\.000 m$/m);
    expect(stderr.split("\n")).toEqual([
      "Reading the cloud",
      "Looking for noise",
      "Looking for the ground",
      "Fetching points",
      "Drawing pictures",
      "Writing the copy",
      "Writing the report",
      "",
    ]);
    expect([started, stopped]).toEqual([1, 1]);
    expect(service.calls.at(-1)).toBe("closeSession");
  });

  test("--json prints one document and nothing else to stdout", async () => {
    const { code, stdout } = await run(["analyze", cloud, "--out", out, "--json", "--format", "ply"]);
    expect(code).toBe(0);
    const result = JSON.parse(stdout);
    expect(result).toMatchObject({
      counts: { points: 27, rows: 30, misses: 3 },
      bounds_world: { min: [476010, 5429020, 30], max: [476012, 5429022, 32] },
      extent_m: [2, 2, 2],
      ground_z_world: 30.25,
      point_spacing_m: 1,
      // 27 points over 3 x 3 cells, all of them looked at.
      density: { points_per_m2: 3, occupied_cells: 9, is_estimate: false },
      copy: { format: "ply", point_count: 30 },
      outputs: { report: join(out, "report.html"), copy: join(out, "plot <1>_copy.ply") },
      versions: { service: "9.9.9" },
    });
    for (const path of [result.outputs.report, result.outputs.copy, ...result.outputs.pictures]) {
      expect(existsSync(path)).toBe(true);
    }
  });

  test("passes the options to the service", async () => {
    const service = fakeService();
    const options = [
      "--units",
      "ft",
      "--shift",
      "1,-2,3.5",
      "--columns",
      "x y z",
      "--format",
      "CSV",
      "--points",
      "1000",
    ];
    expect((await run(["analyze", cloud, "--out", out, ...options], service)).code).toBe(0);
    expect(service.requests.createSession).toEqual({
      source_path: cloud,
      ascii_format: "x y z",
      world_shift: [1, -2, 3.5],
      source_units: "ft",
    });
    expect(service.requests.exportCloud).toMatchObject({
      source: { session_id: "0badcafe" },
      format: "csv",
      columns: ["reflectance"],
    });
  });

  test("merges first, then drops, then measures; records every rule", async () => {
    const service = fakeService();
    const other = join(root, "other.xyz");
    writeFileSync(other, "4 5 6\n");
    const rules = ["--crop", "476010,5429020,30,476012,5429022,31", "--filter", "height=-2..", "--filter", "class=1,5"];
    const { code, stdout } = await run(["analyze", cloud, "--out", out, "--merge", other, ...rules, "--json"], service);
    expect(code).toBe(0);
    expect(service.calls.filter((name) => !/preview|octreeFile|\.(json|bin)/.test(name)).slice(0, 7)).toEqual([
      "createSession",
      "createSession",
      "merge",
      "closeSession",
      "closeSession",
      "filter",
      "denoiseSession",
    ]);
    expect(service.requests.merge).toEqual({ session_ids: ["0badcafe", "0badcafe"] });
    expect(service.requests.filter).toEqual({
      id: "merged00",
      region: { kind: "box", min: [10, 20, 30], max: [12, 22, 31] }, // the stored frame
      scalar_filters: [
        { slug: "height", min: -2, max: null },
        { slug: "class", values: [1, 5] },
      ],
    });
    expect(service.requests.exportCloud).toMatchObject({ source: { session_id: "merged00" } });
    expect(JSON.parse(stdout)).toMatchObject({
      counts: { points: 20, rows: 60, misses: 6 },
      edits: {
        merged: [{ path: other, points: 27, rows: 30 }],
        crop_world: { min: [476010, 5429020, 30], max: [476012, 5429022, 31] },
        points_before: 27,
        points_dropped: 7,
      },
      point_spacing_m: null, // nobody measured that of what is left
      ground_z_world: 30,
      parameters: { merge: [other], filter: ["height=-2..", "class=1,5"] },
    });
  });

  test("the table and the report show what was dropped", async () => {
    const { stdout } = await run(["analyze", cloud, "--out", out, "--filter", "height=..4.5"]);
    const report = readFileSync(join(out, "report.html"), "utf8");
    expect(stdout).toMatch(/^Points dropped +7 of 27$/m);
    expect(stdout).toMatch(/^Filtered by +height=\.\.4\.5$/m);
    const row = (label: string, value: string) => `<th scope="row">${label}</th><td>${value}</td>`;
    expect(report.includes(row("Points dropped", "7 of 27"))).toBe(true);
    expect(report.includes(row("Filtered by", "height=..4.5"))).toBe(true);
    expect(report.includes(row("Filter (--filter)", "height=..4.5"))).toBe(true);
  });

  test("a cloud without points gives a report without pictures and copy", async () => {
    const service = fakeService(
      makeOctree({ nodes: [] }),
      smallTail({ point_count: 0, ground_z: null, point_spacing: null }),
    );
    const { code, stdout } = await run(["analyze", cloud, "--out", out], service);
    expect(code).toBe(0);
    expect(readdirSync(out)).toEqual(["report.html", "summary.json"]);
    expect(stdout).toContain("Warning: No copy was written: the cloud has no points.");
  });

  test("a file without points exits 2 with one line and writes nothing", async () => {
    const service = fakeService(
      makeOctree({ nodes: [] }),
      smallTail({ point_count: 0, total_count: 0, tight_bounds: null }),
    );
    const { code, stdout, stderr } = await run(["analyze", cloud, "--out", out], service);
    expect([code, stdout]).toEqual([2, ""]);
    expect(
      stderr
        .split("\n")
        .filter((line) => line !== "")
        .at(-1),
    ).toBe(`${cloud} contains no points; there is nothing to analyze`);
    expect(existsSync(out)).toBe(false);
  });

  test("warnings reach the table without control characters", async () => {
    const service = fakeService(smallOctree(), smallTail({ warnings: ["bad \u001b[2Jname\nForged line"] }));
    const { stdout } = await run(["analyze", cloud, "--out", out], service);
    expect(stdout).toContain("Warning: bad \ufffd[2Jname\ufffdForged line\n");
    expect(stdout).not.toContain("\u001b");
  });
});

describe("bad input exits 2 with a message and starts no service", () => {
  test.each([
    ["a missing file", () => ["analyze", join(root, "no.las"), "--out", out], /no\.las" does not exist/],
    ["a folder", () => ["analyze", root, "--out", out], /is not a file/],
    ["no --out", () => ["analyze", cloud], /--out/],
    ["an unknown option", () => ["analyze", cloud, "--out", out, "--fast"], /--fast/],
    ["an unknown command", () => ["analyse", cloud], /unknown command "analyse"; did you mean "analyze"\?/],
    [
      "a word that is near to no command",
      () => ["photogrammetry"],
      /the commands are serve, analyze, register, distance, mesh, lad, inventory, qsm, skeleton, wood, plant, scan, fit, project, catalog, batch, help/,
    ],
    [
      "an empty file",
      () => ["analyze", join(root, "empty.las"), "--out", out],
      /empty\.las" is empty: it has no bytes/,
    ],
    [
      "a scene",
      () => ["analyze", cloud, "--out", out, "--scene", "forest"],
      /--scene "forest" is not one of airborne, plot/,
    ],
    ["a cell", () => ["analyze", cloud, "--out", out, "--cell", "0"], /--cell "0" must be a positive number/],
    [
      "cells without rasters",
      () => ["analyze", cloud, "--out", out, "--cell", "1", "--no-dem"],
      /--cell sets the rasters that --no-dem leaves out/,
    ],
    [
      "a format",
      () => ["analyze", cloud, "--out", out, "--format", "doc"],
      /--format "doc" is not one of las, laz, xyz/,
    ],
    ["a unit", () => ["analyze", cloud, "--out", out, "--units", "feet"], /--units "feet" is not one of m, km/],
    ["a short shift", () => ["analyze", cloud, "--out", out, "--shift", "1,2"], /--shift "1,2" must be three numbers/],
    ["an empty shift part", () => ["analyze", cloud, "--out", out, "--shift", "1,,3"], /--shift "1,,3"/],
    ["an infinite shift", () => ["analyze", cloud, "--out", out, "--shift", "1,2,1e999"], /--shift/],
    ["a short crop", () => ["analyze", cloud, "--out", out, "--crop", "0,0,0,1,1"], /--crop "0,0,0,1,1" must be six/],
    [
      "a crop upside down",
      () => ["analyze", cloud, "--out", out, "--crop", "0,0,5,1,1,4"],
      /--crop .*zmin 5 is above zmax 4; give the lower corner first/,
    ],
    [
      "a filter without a column",
      () => ["analyze", cloud, "--out", out, "--filter", "1..2"],
      /--filter "1\.\.2" must be/,
    ],
    [
      "a missing merge",
      () => ["analyze", cloud, "--out", out, "--merge", join(root, "no.laz")],
      /no\.laz" does not exist/,
    ],
    [
      "a merge with itself",
      () => ["analyze", cloud, "--out", out, "--merge", cloud],
      /would be duplicated; leave it out/,
    ],
    ["too few points", () => ["analyze", cloud, "--out", out, "--points", "12"], /--points "12"/],
    ["a picture size", () => ["analyze", cloud, "--out", out, "--picture-size", "1e3"], /--picture-size "1e3"/],
    ["a port", () => ["serve", "--port", "70000"], /70000.* port number/],
  ])("%s", async (_, argv, message) => {
    const { code, stdout, stderr, started, served } = await run(argv());
    expect(code).toBe(2);
    expect(stderr).toMatch(message);
    expect([stdout, started, served.length]).toEqual(["", 0, 0]);
    expect(existsSync(out)).toBe(false);
  });

  test("refuses a legend for a file that describes its own columns", async () => {
    const las = join(root, "a.las");
    writeFileSync(las, "LASF");
    const { code, stderr } = await run(["analyze", las, "--out", out, "--columns", "x y z"]);
    expect(code).toBe(2);
    expect(stderr).toMatch(/--columns .*"a\.las"/);
  });

  test("refuses an output folder that is a file", async () => {
    const { code, stderr } = await run(["analyze", cloud, "--out", cloud]);
    expect(code).toBe(2);
    expect(stderr).toMatch(/--out/);
  });
});

test("a cloud without any row exits 2", async () => {
  const service = fakeService(makeOctree({ nodes: [] }), smallTail({ point_count: 0, total_count: 0 }));
  const { code, stderr } = await run(["analyze", cloud, "--out", out], service);
  expect([code, stderr]).toEqual([2, expect.stringContaining("contains no points; there is nothing to analyze")]);
  expect(existsSync(out)).toBe(false);
});

test("a report of an earlier run is replaced with --force only", async () => {
  expect((await run(["analyze", cloud, "--out", out])).code).toBe(0);
  const before = readFileSync(join(out, "report.html"), "utf8");
  const again = await run(["analyze", cloud, "--out", out, "--format", "ply"]);
  expect([again.code, again.stderr]).toEqual([2, expect.stringContaining("replace it with --force")]);
  expect(readFileSync(join(out, "report.html"), "utf8")).toBe(before);
  expect((await run(["analyze", cloud, "--out", out, "--format", "ply", "--force"])).code).toBe(0);
  expect(readdirSync(out)).toContain("plot <1>_copy.ply");
});

test("summary.json is the document of --json", async () => {
  const { stdout } = await run(["analyze", cloud, "--out", out, "--json"]);
  expect(readFileSync(join(out, "summary.json"), "utf8")).toBe(stdout);
});

const COMMANDS =
  "serve analyze register distance mesh lad inventory qsm skeleton wood plant scan fit project catalog batch".split(
    " ",
  );

describe.each(COMMANDS)("the help of %s", (command) => {
  test("shows an example", async () => {
    expect((await run([command, "--help"])).stdout).toMatch(
      new RegExp(`Examples?:\\n(?: {2}npm .*\\n)* {2}npm start -- ${command} `),
    );
  });

  test("names the units that the option takes", async () => {
    const { stdout } = await run([command, "--help"]);
    if (stdout.includes("--units")) expect(stdout.replaceAll(/\s+/g, " ")).toContain(UNITS.join(", "));
  });
});

test("help is printed to stdout and exits 0", async () => {
  const { code, stdout } = await run(["analyze", "--help"]);
  expect(code).toBe(0);
  expect(stdout).toContain("--out <folder>");
});
