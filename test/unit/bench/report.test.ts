import { describe, expect, test } from "vitest";
import { compare, table } from "../../bench/report.ts";

const job = { title: "a job", compare: ["wall_s", "cpu_s", "peak_rss_mib"] };

describe("compare", () => {
  const before = { wall_s: 2, cpu_s: 4, peak_rss_mib: 100 };

  test("names the figure that got worst", () => {
    const found = compare({ wall_s: 3, cpu_s: 4, peak_rss_mib: 120 }, job, before);
    expect(found).toEqual({
      ratios: { wall_s: 1.5, cpu_s: 1, peak_rss_mib: 1.2 },
      worst: { figure: "wall_s", ratio: 1.5 },
    });
  });

  test("takes figures below the noise floor as the floor", () => {
    const found = compare({ wall_s: 0.04, cpu_s: 4, peak_rss_mib: 100 }, job, { ...before, wall_s: 0.001 });
    expect(found?.ratios.wall_s).toBe(1);
  });

  test("knows nothing without a baseline", () => {
    expect(compare({ wall_s: 3 }, job, undefined)).toBeUndefined();
  });
});

test("the table shows missed targets, peers and failures", () => {
  const targets = [
    { text: "<= 1 s", met: false },
    { text: "<= 3 CPU-s", met: true },
  ];
  const text = table([
    {
      name: "one",
      job,
      samples: [{}],
      median: { wall_s: 1.234, cpu_s: 2, peak_rss_mib: 30 },
      figure: "1.0 M/s",
      targets,
      baseline: undefined,
      peer: { note: "none" },
    },
    { name: "two", job, error: "it broke\nat line 3" },
  ]);
  expect(text).toContain("NO: <= 1 s |");
  expect(text).toContain("1.23");
  expect(text).toContain("1.0 M/s");
  expect(text).toMatch(/two .*FAILED .*it broke/);
});
