// Builds the addon (build/native/Release/pc.node) and, where nvcc is found, the CUDA module beside it.
// usage: build-native.mjs [--force] [--all-architectures] [--no-cuda]
import { spawnSync } from "node:child_process";
import { copyFileSync, existsSync, renameSync } from "node:fs";
import { createRequire } from "node:module";
import { availableParallelism } from "node:os";
import { dirname, join } from "node:path";
import { dropMovedCache } from "./cmake-cache.mjs";
import { fingerprint, isFresh, markFresh, root } from "./fingerprint.mjs";

const args = process.argv.slice(2);
const output = join(root, "build", "native");
const addon = join(output, "Release", "pc.node");
const options = ["--CDPC_TESTS=OFF", `--CDPC_WERROR=${process.env.PC_WERROR === "1" ? "ON" : "OFF"}`];
if (args.includes("--no-cuda")) options.push("--CDPC_CUDA=OFF");
const packaged = args.includes("--all-architectures") ? "75-real;80-real;86-real;89-real;90;120" : "";
options.push(`--CDPC_CUDA_ARCHITECTURES=${packaged}`);

const stamp = fingerprint(["cpp", "cuda", "CMakeLists.txt", "package-lock.json"], options.join());
if (!args.includes("--force") && existsSync(addon) && isFresh("native", stamp)) process.exit(0);

const require = createRequire(import.meta.url);
const cmakeJs = join(dirname(require.resolve("cmake-js/package.json")), "bin", "cmake-js");
dropMovedCache(output);
const base = ["-d", root, "-O", output, "-B", "Release", ...options];
for (const command of ["configure", "build"]) {
  const parallel = command === "build" ? ["-p", String(availableParallelism())] : [];
  const { status } = spawnSync(process.execPath, [cmakeJs, command, ...base, ...parallel], {
    stdio: ["ignore", 2, 2],
    cwd: root,
  });
  if (status !== 0) {
    console.error(`The native addon did not build (cmake-js ${command}). The messages above say why.`);
    process.exit(1);
  }
}
copyOpenMp();
markFresh("native", stamp);

/** The OpenMP runtime cannot be linked in statically, so it travels beside the addon (rpath $ORIGIN). */
function copyOpenMp() {
  if (process.platform !== "linux") return;
  const { stdout } = spawnSync("g++", ["-print-file-name=libgomp.so.1"], { encoding: "utf8" });
  const library = stdout?.trim();
  if (!library || !existsSync(library)) return;
  const target = join(dirname(addon), "libgomp.so.1");
  copyFileSync(library, `${target}.new`);
  renameSync(`${target}.new`, target); // a service that runs keeps the file it has mapped
}
