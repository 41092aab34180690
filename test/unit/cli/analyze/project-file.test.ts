import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, expect, test } from "vitest";
import { decodeScene } from "../../../../shared/wire/psc1-decode.ts";
import { fakeService, smallTail } from "../../../support/cli/analyze-fake.ts";
import { runFake as run } from "../../../support/cli/fake-command-line.ts";
import { folderOfTest } from "../../../support/run/folders.ts";

let root = "";
let cloud = "";
let out = "";
let project = "";
beforeEach(() => {
  root = folderOfTest("analyze-project-");
  cloud = join(root, "plot.xyz");
  out = join(root, "out");
  project = join(root, "projects", "plot.proj");
  writeFileSync(cloud, "1 2 3\n");
});

test("--project saves the cloud with a scene of its ids and its name, and the results name the file", async () => {
  const service = fakeService();
  const { code, stdout, stderr } = await run(["analyze", cloud, "--out", out, "--project", project], service);
  expect([code, readdirSync(join(root, "projects"))]).toEqual([0, ["plot.proj"]]);
  expect(stderr).toContain("Saving the project");
  expect(stdout).toMatch(/^Project +.*plot\.proj$/m);
  const { session_id, cache_id } = smallTail();
  expect(decodeScene(service.requests.stageScene as Uint8Array)).toEqual({
    clouds: [{ sessionId: session_id, name: "plot.xyz", cacheId: cache_id, missOctreeCacheId: null }],
  });
  expect(service.requests.saveProject).toMatchObject({ scene_token: "f".repeat(32), session_ids: [session_id] });
  const summary = JSON.parse(readFileSync(join(out, "summary.json"), "utf8")) as Record<string, object>;
  expect([summary.outputs, summary.parameters]).toMatchObject([{ project }, { project }]);
  expect(readFileSync(join(out, "report.html"), "utf8")).toContain("Project (--project)");
});

test("without --project nothing is saved", async () => {
  const service = fakeService();
  expect((await run(["analyze", cloud, "--out", out], service)).code).toBe(0);
  expect(service.calls.filter((name) => /Scene|Project/.test(name))).toEqual([]);
  expect(JSON.parse(readFileSync(join(out, "summary.json"), "utf8"))).toMatchObject({ outputs: { project: null } });
});

test("a project that is there is replaced with --force only", async () => {
  mkdirSync(join(root, "projects"));
  writeFileSync(project, "mine");
  const refused = await run(["analyze", cloud, "--out", out, "--project", project]);
  expect([refused.code, refused.stderr]).toEqual([2, expect.stringMatching(/--project .*plot\.proj.*--force/)]);
  expect([readFileSync(project, "utf8"), existsSync(out)]).toEqual(["mine", false]);
  expect((await run(["analyze", cloud, "--out", out, "--project", project, "--force"])).code).toBe(0);
  expect(readFileSync(project, "utf8")).toBe("the project");
});

test.each(["a save that fails", "a project that cannot be put in its place"])(
  "%s: neither report nor project, no folder",
  async (what) => {
    const folder = join(root, "projects");
    const service = fakeService(undefined, undefined, (step) => {
      if (what.startsWith("a save") && step === "saveProject") throw new Error("the disk is full");
      const staged = step === "closeSession" ? readdirSync(folder)[0] : undefined;
      if (staged !== undefined) rmSync(join(folder, staged, "plot.proj"), { force: true });
    });
    const { code } = await run(["analyze", cloud, "--out", out, "--project", project], service);
    expect([code, existsSync(out), existsSync(folder)]).toEqual([1, false, false]);
  },
);

test("another extension is refused", async () => {
  const { code, stderr } = await run(["analyze", cloud, "--out", out, "--project", join(root, "a.zip")]);
  expect([code, stderr]).toEqual([2, expect.stringMatching(/must be a file name that ends in \.proj/)]);
});
