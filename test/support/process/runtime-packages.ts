import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";

/** Packages that the bundles load at run time (scripts/build-ts.mjs leaves them out). */
const RUNTIME_PACKAGES = ["@fastify/swagger", "@fastify/swagger-ui"];

/** The folders of the packages that a built app needs, with all that they depend on; relative to `root`, sorted. */
export function runtimePackageFolders(root: string): string[] {
  const found = new Set<string>();
  const visit = (name: string, from: string): void => {
    const path = packageFolder(root, name, from);
    if (found.has(path)) return;
    found.add(path);
    const manifest = join(root, path, "package.json");
    const { dependencies = {} } = JSON.parse(readFileSync(manifest, "utf8")) as {
      dependencies?: Record<string, string>;
    };
    for (const dependency of Object.keys(dependencies)) visit(dependency, manifest);
  };
  for (const name of RUNTIME_PACKAGES) visit(name, join(root, "package.json"));
  return [...found].sort();
}

function packageFolder(root: string, name: string, from: string): string {
  for (const modules of createRequire(from).resolve.paths(name) ?? []) {
    const path = join(modules, name);
    if (modules.startsWith(root) && existsSync(join(path, "package.json"))) {
      return path.slice(root.length).replaceAll("\\", "/").replace(/^\//, "");
    }
  }
  throw new Error(`${name} is not installed (needed by ${from}); run "npm ci"`);
}
