import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { addonPath } from "../../../../backend/native/core/load.ts";

/**
 * Frees one block of 30 MiB, after which glibc keeps freed memory up to twice that, then 28 of 2 MiB; prints by how much the
 * memory of the process has grown.
 */
const FREEING = `
const { readFileSync } = require("node:fs");
const [load, path] = process.argv.slice(1);
if (load === "with") require(path);
const anonymous = () => Number(/RssAnon:\\s+(\\d+)/.exec(readFileSync("/proc/self/status", "utf8"))[1]) / 1024;
const use = (count, mib) => {
  Array.from({ length: count }, () => Buffer.alloc(mib * 2 ** 20, 1));
};
const settle = () => new Promise((resolve) => setTimeout(resolve, 50)).then(gc);
(async () => {
  await settle();
  const before = anonymous();
  use(1, 30);
  await settle();
  use(28, 2);
  for (let i = 0; i < 5; i += 1) await settle();
  console.log(anonymous() - before);
})();`;

const growth = async (load: "with" | "without") => {
  const { stdout } = await promisify(execFile)(process.execPath, ["--expose-gc", "-e", FREEING, load, addonPath()]);
  return Number(stdout);
};
const { header } = process.report.getReport() as unknown as { header: { glibcVersionRuntime?: string } };

test.runIf(header.glibcVersionRuntime)("freed memory of the process goes back to the system", async () => {
  expect(await growth("without")).toBeGreaterThan(30); // the reason for the addon's setting
  expect(await growth("with")).toBeLessThan(12);
});
