import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { folderOfTest } from "../../support/run/folders.ts";

const QUIET = new URL("../../../scripts/quiet.mjs", import.meta.url).href;

/** Runs steps that print a lot; returns what reaches the user and what reaches the log. */
function quiet(exitCode: number, isTTY: boolean) {
  const log = join(folderOfTest("quiet-"), "setup.log");
  const noisy = `for (let i = 1; i <= 180; i += 1) console.log("[" + i + "/180] Building"); console.error("npm warn EBADENGINE"); process.exit(${exitCode})`;
  const program = `
    import { QuietSteps } from ${JSON.stringify(QUIET)};
    const seen = [];
    const stream = { isTTY: ${isTTY}, columns: 60, write: (text) => seen.push(text) };
    const steps = new QuietSteps(${JSON.stringify(log)}, stream);
    const detailOf = (text) => text.match(/\\d+.180/g)?.at(-1) ?? "";
    let failure = null;
    try {
      await steps.run("building", process.execPath, ["-e", ${JSON.stringify(noisy)}], { detailOf });
      await steps.run("bundling", process.execPath, ["-e", ""]);
    } catch (error) { failure = error.message; }
    steps.done();
    console.log(JSON.stringify({ seen, failure }));`;
  const { stdout, stderr } = spawnSync(process.execPath, ["--input-type=module", "-e", program], { encoding: "utf8" });
  return { ...JSON.parse(stdout), stderr, stdout_lines: stdout.trim().split("\n").length, log };
}

test("without a terminal one line names the log, which holds everything", () => {
  const { seen, failure, stderr, stdout_lines, log } = quiet(0, false);
  expect([failure, stderr, stdout_lines]).toEqual([null, "", 1]);
  expect(seen).toEqual([expect.stringContaining(log)]);
  const text = readFileSync(log, "utf8");
  expect(text).toContain("[180/180] Building");
  expect(text).toContain("EBADENGINE");
});

test("a terminal has one line that is rewritten and taken away", () => {
  const { seen } = quiet(0, true);
  const text = seen.join("");
  expect(text).not.toContain("\n");
  expect(text).toMatch(/Setting up: building .*\r.*Setting up: bundling/);
  expect(text.endsWith("\r\u001b[2K")).toBe(true);
});

test("a failed step is an error that shows its last lines, and ends the setup", () => {
  const { failure, seen } = quiet(3, true);
  expect(failure).toMatch(/^building failed .*exit code 3/);
  expect(failure).toContain("[180/180] Building");
  expect(failure).toContain("npm warn EBADENGINE");
  expect(failure).not.toContain("[150/180]");
  expect(seen.join("")).not.toContain("bundling");
});
