import { expect, test } from "vitest";

const { isAllowed, licenceProblems } = await import(
  new URL("../../../scripts/check-licences.mjs", import.meta.url).href
);
const allowed = new Set(["MIT", "ISC", "Apache-2.0"]);

test.each<[string, boolean]>([
  ["MIT", true],
  ["GPL-3.0-only", false],
  ["", false],
  ["SEE LICENSE IN LICENSE", false],
  ["UNLICENSED", false],
  ["(GPL-2.0-only OR MIT)", true],
  ["MIT AND GPL-2.0-only", false],
  ["MIT AND (ISC OR GPL-2.0-only)", true],
  ["GPL-2.0-only OR MIT AND CC-BY-NC-4.0", false],
  ["Apache-2.0 WITH LLVM-exception", false],
  ["(MIT", false],
  ["MIT)", false],
])("%s: %s", (expression, verdict) => {
  expect(isAllowed(expression, allowed)).toBe(verdict);
});

/** A tree of packages: `a` is a dependency, `tool` is for development; the code imports `drawn`. */
const packages = {
  "": { dependencies: { a: "1" }, devDependencies: { tool: "1", drawn: "1" } },
  "node_modules/a": { license: "MIT", dependencies: { b: "1" } },
  "node_modules/a/node_modules/b": { license: "ISC" },
  "node_modules/b": { license: "MPL-2.0", dev: true },
  "node_modules/tool": { license: "MPL-2.0", dependencies: { b: "2" } },
  "node_modules/drawn": { license: "MIT", dependencies: { inner: "1" } },
  "node_modules/inner": { license: "MIT" },
};
type Entry = { license?: string; dependencies?: Record<string, string> };
const told = (changes: Record<string, Entry>, listed = "| a | MIT |", installed: Record<string, object> = {}) =>
  licenceProblems({
    lock: { packages: { ...packages, ...changes } },
    imported: ["drawn", "node"],
    manifest: (path: string) => installed[path],
    listed,
  });

test("what is shipped is held to more than what only builds and tests", () => {
  expect(told({})).toEqual({ problems: [], shipped: 4 });
  expect(told({ "node_modules/a/node_modules/b": { license: "MPL-2.0" } }).problems).toEqual([
    "node_modules/a/node_modules/b (shipped) is under MPL-2.0, says package-lock.json",
  ]);
  expect(told({ "node_modules/inner": { license: "GPL-3.0-only" } }).problems).toEqual([
    "node_modules/inner (shipped) is under GPL-3.0-only, says package-lock.json",
  ]);
  expect(told({ "node_modules/tool": { license: "AGPL-3.0-only" } }).problems).toEqual([
    "node_modules/tool (for development) is under AGPL-3.0-only, says package-lock.json",
  ]);
});

test("a package without a licence, one that differs from the lock, one that no list names", () => {
  expect(told({ "node_modules/tool": {} }).problems).toEqual([
    "node_modules/tool (for development) has no licence in package-lock.json",
  ]);
  expect(told({}, "| a | MIT |", { "node_modules/a": { license: "BUSL-1.1" } }).problems).toEqual([
    "node_modules/a (shipped) is under BUSL-1.1, says its package.json",
  ]);
  expect(told({}, "| ab, b |").problems).toEqual(["THIRD_PARTY.md does not name a"]);
});
