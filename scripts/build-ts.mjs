// Bundles the entries of the backend into dist/. One file per entry plus shared chunks: a start reads few files.
import { copyFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fingerprint, isFresh, markFresh, root } from "./fingerprint.mjs";

const stamp = fingerprint(["backend", "shared", "scripts/build-ts.mjs", "package.json", "package-lock.json"]);
const entries = ["headless", "utility-process", "electron-main", "electron-backend", "compute-worker"];
/** Files of the window that the browser gets as they are. */
const pages = ["index.html", "window.css", "icon.svg"];
const recorded = join(root, "build", "bundled-packages.json");
const built =
  existsSync(recorded) &&
  entries.every((name) => existsSync(join(root, "dist", "backend", "entry", `${name}.js`))) &&
  existsSync(join(root, "dist", "backend", "entry", "preload.cjs")) &&
  [...pages, "main.js"].every((name) => existsSync(join(root, "dist", "window", name)));
if (!process.argv.includes("--force") && built && isFresh("ts", stamp)) process.exit(0);

const { build } = await import("esbuild");
const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
rmSync(join(root, "dist"), { recursive: true, force: true });
const entriesBuilt = await build({
  absWorkingDir: root,
  entryPoints: entries.map((name) => `backend/entry/${name}.ts`),
  outdir: "dist/backend/entry",
  bundle: true,
  splitting: true,
  format: "esm",
  platform: "node",
  target: "node20",
  sourcemap: "linked",
  define: { "process.env.APP_BUILD_VERSION": JSON.stringify(version) },
  // Loaded from node_modules when first asked for: they read files of their own packages.
  external: ["electron", "@fastify/swagger", "@fastify/swagger-ui", "pino-pretty", "onnxruntime-node"],
  banner: {
    js: 'import { createRequire as bundleRequire } from "node:module"; const require = bundleRequire(import.meta.url);',
  },
  logLevel: "warning",
  metafile: true,
});
// A sandboxed preload script is one CommonJS file.
const preloadBuilt = await build({
  absWorkingDir: root,
  entryPoints: ["backend/entry/preload.ts"],
  outfile: "dist/backend/entry/preload.cjs",
  bundle: true,
  format: "cjs",
  platform: "node",
  target: "node20",
  external: ["electron"],
  logLevel: "warning",
  metafile: true,
});
const windowBuilt = await build({
  absWorkingDir: root,
  entryPoints: ["backend/window/main.ts"],
  outdir: "dist/window",
  bundle: true,
  minify: true,
  format: "esm",
  platform: "browser",
  target: "es2022",
  sourcemap: "linked",
  tsconfig: "backend/window/tsconfig.json",
  legalComments: "linked",
  metafile: true,
  logLevel: "warning",
});
mkdirSync(join(root, "dist", "window"), { recursive: true });
for (const name of pages) copyFileSync(join(root, "backend", "window", name), join(root, "dist", "window", name));
recordPackages([entriesBuilt, preloadBuilt, windowBuilt]);
markFresh("ts", stamp);

/** Lists the packages of which something is in the bundles; `npm run package` ships their licences. */
function recordPackages(builds) {
  const inputs = builds.flatMap(({ metafile }) => Object.values(metafile.outputs).flatMap((output) => output.inputs));
  const used = inputs.flatMap((of) => Object.entries(of).filter(([, { bytesInOutput }]) => bytesInOutput > 0));
  const folders = used.map(([file]) => /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(file)?.[1]);
  mkdirSync(join(root, "build"), { recursive: true });
  const packages = [...new Set(folders.filter((folder) => folder !== undefined))].sort();
  writeFileSync(recorded, `${JSON.stringify(packages, null, 1)}\n`);
}
