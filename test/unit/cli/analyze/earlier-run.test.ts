import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { leftNote } from "../../../../backend/cli/analyze/earlier-run.ts";
import { OutputFolder } from "../../../../backend/cli/analyze/output-folder.ts";
import { folderOfTest } from "../../../support/run/folders.ts";

const summaryOf = (root: string, ...names: string[]) =>
  JSON.stringify({ outputs: { report: join(root, "report.html"), pictures: names.map((name) => join(root, name)) } });

async function publish(root: string, ...names: string[]): Promise<string[]> {
  const out = await OutputFolder.open(root);
  for (const name of names) await out.write(name, "");
  await out.write("summary.json", summaryOf(root, ...names));
  return out.publish();
}

test("a run tells which files of the run before it replaced it left beside its own", async () => {
  const root = folderOfTest("earlier-run-");
  expect(await publish(root, "report.html", "tree_3.png", "tree_7.png")).toEqual([]);
  writeFileSync(join(root, "notes.txt"), "mine");
  expect(await publish(root, "report.html", "tree_7.png")).toEqual(["tree_3.png"]);
});

test("names of files that are gone, or of folders, are not told", async () => {
  const root = folderOfTest("earlier-run-");
  mkdirSync(join(root, "cells"));
  writeFileSync(join(root, "summary.json"), summaryOf(root, "gone.png", "cells"));
  expect(await publish(root, "report.html")).toEqual([]);
});

test.each(["", "[1", "null", "[]", '{"outputs": 3}', '{"outputs": {"a": "..", "b": ""}}'])(
  "nothing is known of an earlier run whose summary is %j",
  async (text) => {
    const root = folderOfTest("earlier-run-");
    writeFileSync(join(root, "summary.json"), text);
    expect(await publish(root, "report.html")).toEqual([]);
  },
);

test("a run that writes no summary replaces none", async () => {
  const root = folderOfTest("earlier-run-");
  await publish(root, "report.html", "tree_3.png");
  const out = await OutputFolder.open(root);
  await out.write("forest.phproject", "");
  expect(await out.publish()).toEqual([]);
});

test("the note names five files and counts the rest", () => {
  expect(leftNote([])).toBe("");
  expect(leftNote(["a"])).toBe(
    "1 file of the earlier run is left in the folder: a. It does not belong to these results; delete it if not needed.\n",
  );
  expect(leftNote(["a", "b", "c", "d", "e", "f", "g"])).toMatch(
    /^7 files of the earlier run are left in the folder: a, b, c, d, e and 2 more\. They do not belong/,
  );
});
