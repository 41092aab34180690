import { mkdirSync, readdirSync, readFileSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { MlModel, MlModelsResponse } from "../../shared/contract/ml.ts";
import { appOfTest } from "../support/app/app.ts";
import { HEIGHT_NETWORK, modelJson, TWO_LEVEL_NETWORK, writePackage } from "../support/ml/packages.ts";
import { folderOfTest } from "../support/run/folders.ts";
import { checked } from "../support/session/session-edits.ts";

async function appWith(mlModelsDir: string, bundledModelsDir: string) {
  const app = await appOfTest({ mlModelsDir, bundledModelsDir, mlDevice: "cpu" });
  return (path: string) => app.app.inject({ method: "POST", url: "/api/ml/models/import", payload: { path } });
}

describe("a folder of models that cannot be written", () => {
  test.each([
    ["lies in a file", (folder: string) => join(folder, "file", "models"), "it is, or lies in, a file"],
    ["is one of the system", () => "/proc/self/models", "its parent folder does not take it"],
  ])("%s: the import says so and names the setting", async (_, at, why) => {
    const folder = folderOfTest("ml-unwritable-");
    writeFileSync(join(folder, "file"), "");
    const bring = await appWith(at(folder), join(folder, "none"));
    const answer = await bring(writePackage(join(folder, "source"), modelJson(), HEIGHT_NETWORK));
    const { detail } = answer.json() as { detail: string };
    expect([answer.statusCode, detail]).toEqual([500, expect.stringContaining(why)]);
    expect(detail).toContain("APP_ML_MODELS_DIR");
    expect(readdirSync(folder).sort()).toEqual(["file", "source"]);
  });
});

test("two imports of one id at once: both answer, one of the two is there, whole, and nothing else", async () => {
  const folder = folderOfTest("ml-at-once-");
  const user = join(folder, "user");
  mkdirSync(user);
  const bring = await appWith(user, join(folder, "none"));
  const first = writePackage(join(folder, "first"), modelJson({ name: "First" }), HEIGHT_NETWORK);
  const second = writePackage(join(folder, "second"), modelJson({ name: "Second" }), TWO_LEVEL_NETWORK);
  const answers = await Promise.all([bring(first), bring(second), bring(first), bring(second)]);
  for (const answer of answers) expect(answer.statusCode, answer.body).toBe(200);
  const names = answers.map((answer) => checked(MlModel, answer.json()).name);
  expect(readdirSync(user)).toEqual(["tiny"]);
  expect(readdirSync(join(user, "tiny")).sort()).toEqual(["model.json", "model.onnx"]);
  expect(["First", "Second"]).toContain(names.at(-1));
});

test("a model.json that is edited in place, to as many bytes, is read again", async () => {
  const folder = folderOfTest("ml-in-place-");
  const user = join(folder, "user");
  const config = { mlModelsDir: user, bundledModelsDir: join(folder, "none"), mlDevice: "cpu" } as const;
  const { app } = await appOfTest(config);
  const path = join(writePackage(join(user, "tiny"), modelJson({ name: "First" }), HEIGHT_NETWORK), "model.json");
  const names = async () =>
    checked(MlModelsResponse, (await app.inject({ url: "/api/ml/models" })).json()).models.map(({ name }) => name);
  expect(await names()).toEqual(["First"]);
  const { ino, size, atime, mtimeMs } = statSync(path);
  writeFileSync(path, readFileSync(path, "utf8").replace("First", "Other"));
  utimesSync(path, atime, mtimeMs / 1000 + 1);
  const edited = statSync(path);
  expect([edited.ino, edited.size]).toEqual([ino, size]);
  expect(await names()).toEqual(["Other"]);
});
