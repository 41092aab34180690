import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { runtimePackageFolders } from "../../support/process/runtime-packages.ts";

const root = fileURLToPath(new URL("../../..", import.meta.url));

test("the desktop package contains exactly the packages that the bundles load", () => {
  const config = readFileSync(`${root}/electron-builder.yml`, "utf8");
  const listed = [...config.matchAll(/^ {2}- "?node_modules\/([^"*\n]+)\/\*\*"?$/gm)].map((match) => match[1]);
  // By name: where npm and the packager put a package (at the top or inside another) is theirs to decide.
  const runtime = listed.filter((path) => path?.startsWith("onnxruntime-"));
  expect(runtime).toEqual([
    "onnxruntime-common",
    "onnxruntime-node/dist",
    `onnxruntime-node/bin/napi-v6/\${platform}/\${arch}`, // one of all platforms
  ]);
  const needed = new Set(runtimePackageFolders(root).map((folder) => folder.split("node_modules/").at(-1)));
  expect(needed.size).toBeGreaterThan(10);
  expect(listed.filter((path) => !runtime.includes(path)).sort()).toEqual([...needed].sort());
});
