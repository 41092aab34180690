// Runs the core under Electron's allocator limits: at their real size, and scaled down so that any scratch that is not
// in pages of its own shows with a small cloud. The core is the one of the addon, as it is delivered.
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { dropMovedCache } from "./cmake-cache.mjs";
import { root } from "./fingerprint.mjs";

const folder = join(root, "build", "limits");
const run = (command, args, env = {}) =>
  spawnSync(command, args, { cwd: root, stdio: "inherit", env: { ...process.env, ...env } }).status ?? 1;

const ninja = spawnSync("ninja", ["--version"]).status === 0 ? ["-G", "Ninja"] : [];
const core = join(root, "build", "native", "libpc_core.a");
const options = [
  "-DPC_ADDON=OFF",
  "-DPC_CUDA=OFF",
  "-DPC_LIMITS=ON",
  "-DCMAKE_BUILD_TYPE=Release",
  `-DPC_CORE_LIBRARY=${core}`,
];
dropMovedCache(folder);
if (run(process.execPath, ["scripts/build-native.mjs"]) !== 0) process.exit(1);
if (run("cmake", ["-S", root, "-B", folder, ...ninja, ...options]) !== 0) process.exit(1);
if (
  run("cmake", [
    "--build",
    folder,
    "--target",
    "pc_limits",
    "pc_limit_malloc",
    "--parallel",
    String(availableParallelism()),
  ]) !== 0
)
  process.exit(1);

const preload = join(folder, "libpc_limit_malloc.so");
const program = join(folder, "pc_limits");
const scratch = mkdtempSync(join(tmpdir(), "limits-"));
const runs = [
  run(program, ["real"], { LD_PRELOAD: preload }),
  run(program, ["scaled", scratch], { LD_PRELOAD: preload, PC_MALLOC_LIMIT_MIB: "8", PC_ALIGNED_LIMIT_MIB: "8" }),
];
rmSync(scratch, { recursive: true, force: true });
console.log(runs.every((status) => status === 0) ? "allocator limits ok" : "allocator limits FAILED");
process.exitCode = runs.every((status) => status === 0) ? 0 : 1;
