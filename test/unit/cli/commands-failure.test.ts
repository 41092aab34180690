import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { runCommandLine } from "../../../backend/cli/commands.ts";
import { ApiError } from "../../../shared/client/index.ts";
import { AppError } from "../../../shared/errors.ts";
import { fakeService, smallOctree, smallTail, textSink } from "../../support/cli/analyze-fake.ts";
import { runFake as run } from "../../support/cli/fake-command-line.ts";
import { folderOfTest } from "../../support/run/folders.ts";

let root = "";
let cloud = "";
let out = "";
beforeEach(() => {
  root = folderOfTest("analyze-");
  cloud = join(root, "plot <1>.xyz");
  out = join(root, "out");
  writeFileSync(cloud, "1 2 3\n");
});

describe("failures leave no output", () => {
  const failing = (error: Error, at: string) =>
    fakeService(smallOctree(), smallTail(), (step) => {
      if (step === at) throw error;
    });

  test.each([
    ["an unreadable file", new ApiError(200, "invalid_file", "line 3: no number", undefined), "createSession", 2],
    ["a refusal without a code", new ApiError(400, undefined, "unsupported kind", undefined), "createSession", 2],
    ["a full disk", new ApiError(200, "no_space", "disk full", undefined), "exportCloud", 1],
    ["a lost connection", new ApiError(0, "network", "no answer", undefined), "octreeFile", 1],
    ["a damaged octree", new AppError("io", "octree gone"), "octreeFile", 1],
    ["a bug", new TypeError("x is not a function"), "version", 1],
  ])("%s exits with its code", async (_, error, at, expected) => {
    const { code, stdout, stderr, stopped } = await run(["analyze", cloud, "--out", out], failing(error, at));
    expect(code).toBe(expected);
    expect(stderr).toContain(error.message);
    expect([stdout, stopped]).toEqual(["", 1]);
    expect(readdirSync(root)).toEqual(["plot <1>.xyz"]);
  });

  test("the first failure is reported even when closing the session fails too", async () => {
    const service = fakeService(smallOctree(), smallTail(), (step) => {
      if (step === "exportCloud") throw new ApiError(200, "io", "the first failure", undefined);
      if (step === "closeSession") throw new ApiError(0, "network", "the second", undefined);
    });
    const { code, stderr } = await run(["analyze", cloud, "--out", out], service);
    expect(code).toBe(1);
    expect(stderr).toContain("the first failure");
  });
});

describe("cancel", () => {
  test.each(["createSession", "octreeFile", "exportCloud", "version"])(
    "during %s exits 130 and leaves no output",
    async (at) => {
      const controller = new AbortController();
      const service = fakeService(smallOctree(), smallTail(), (step) => {
        if (step === at) controller.abort(new AppError("canceled", "canceled"));
      });
      writeFileSync(join(root, "report.html"), "an older report");
      const { code, stdout, stderr, stopped } = await run(
        ["analyze", cloud, "--out", root, "--force"],
        service,
        controller.signal,
      );
      expect(code).toBe(130);
      expect(stdout).toBe("");
      expect(stderr).toContain("Canceled; nothing was written.");
      expect(stopped).toBe(1);
      expect(readdirSync(root).sort()).toEqual(["plot <1>.xyz", "report.html"]);
      expect(readFileSync(join(root, "report.html"), "utf8")).toBe("an older report");
    },
  );

  test("Ctrl-C cancels the run, and its handler is removed after the run", async () => {
    const before = process.listenerCount("SIGINT");
    const service = fakeService(smallOctree(), smallTail(), async (step) => {
      if (step !== "createSession") return;
      expect(process.listenerCount("SIGINT")).toBe(before + 1);
      process.emit("SIGINT");
    });
    const code = await runCommandLine(["analyze", cloud, "--out", out], {
      serve: async () => undefined,
      startBackend: async () => ({ url: "", token: null, stop: async () => undefined }),
      connect: () => service.client,
      stdout: textSink(),
      stderr: textSink(),
    });
    expect(code).toBe(130);
    expect(process.listenerCount("SIGINT")).toBe(before);
    expect(existsSync(out)).toBe(false);
  });
});
