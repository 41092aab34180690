import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { root } from "../../bench/folders.ts";

const bench = (...args: string[]) =>
  spawnSync(process.execPath, [join(root, "scripts", "bench.mjs"), ...args], { encoding: "utf8" });

describe("the command line of the benchmark", () => {
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
