import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";

type Figures = Record<string, unknown>;
interface Job {
  readonly title: string;
  readonly compare: readonly string[];
  readonly figure: (figures: Figures) => string;
}
interface Report {
  median(samples: readonly Figures[]): Figures;
  compare(
    figures: Figures,
    job: Job,
    before: Figures | undefined,
  ): { ratios: Record<string, number>; worst: { figure: string; ratio: number } } | undefined;
  table(results: readonly Figures[]): string;
}

const path = (name: string) => fileURLToPath(new URL(`../../../${name}`, import.meta.url));
const report = (await import(path("test/bench/report.mjs"))) as Report;
const job: Job = { title: "a job", compare: ["wall_s", "cpu_s", "peak_rss_mib"], figure: () => "1.0 M/s" };
const bench = (...args: string[]) =>
  spawnSync(process.execPath, [path("scripts/bench.mjs"), ...args], { encoding: "utf8" });

describe("median", () => {
  test("takes the middle of odd and the mean of even counts", () => {
    expect(report.median([{ wall_s: 3 }, { wall_s: 1 }, { wall_s: 2 }])).toEqual({ wall_s: 2 });
    expect(report.median([{ wall_s: 1 }, { wall_s: 2 }])).toEqual({ wall_s: 1.5 });
  });

  test("counts a stage that a run did not show as no time", () => {
    const stages = [{ stages: { read: 1 } }, { stages: { read: 2, hash: 5 } }, { stages: { read: 3 } }];
    expect(report.median(stages)).toEqual({ stages: { read: 2, hash: 0 } });
  });
});

describe("compare", () => {
  const before = { wall_s: 2, cpu_s: 4, peak_rss_mib: 100 };

  test("names the figure that got worst", () => {
    const found = report.compare({ wall_s: 3, cpu_s: 4, peak_rss_mib: 120 }, job, before);
    expect(found).toEqual({
      ratios: { wall_s: 1.5, cpu_s: 1, peak_rss_mib: 1.2 },
      worst: { figure: "wall_s", ratio: 1.5 },
    });
  });

  test("takes figures below the noise floor as the floor", () => {
    const found = report.compare({ wall_s: 0.04, cpu_s: 4, peak_rss_mib: 100 }, job, { ...before, wall_s: 0.001 });
    expect(found?.ratios.wall_s).toBe(1);
  });

  test("knows nothing without a baseline", () => {
    expect(report.compare({ wall_s: 3 }, job, undefined)).toBeUndefined();
  });
});

test("the table shows missed targets, peers and failures", () => {
  const median = { wall_s: 1.234, cpu_s: 2, peak_rss_mib: 30 };
  const targets = [
    { text: "<= 1 s", met: false },
    { text: "<= 3 CPU-s", met: true },
  ];
  const text = report.table([
    { name: "one", job, samples: [{}], median, targets, peer: { note: "none" } },
    { name: "two", job, samples: [], error: "it broke\nat line 3" },
  ]);
  expect(text).toContain("NO: <= 1 s |");
  expect(text).toContain("1.23");
  expect(text).toMatch(/two .*FAILED .*it broke/);
});

describe("the command line", () => {
  test("lists the jobs", () => {
    const { status, stdout } = bench("--list");
    expect(status).toBe(0);
    for (const name of [
      "ready",
      "text",
      "las",
      "octree",
      "select-lasso",
      "translate",
      "create",
      "export",
      "health",
      "cancel",
    ]) {
      expect(stdout).toMatch(new RegExp(`^${name} `, "m"));
    }
  });

  test.each([
    [["octre"], "unknown job: octre"],
    [["--run", "3"], "--run"],
    [["--runs", "0"], "--runs 0"],
    [["--factor", "half"], "--factor half"],
  ])("refuses %j", (args, message) => {
    const { status, stderr } = bench(...args);
    expect(status).toBe(2);
    expect(stderr).toContain(message);
  });
});
