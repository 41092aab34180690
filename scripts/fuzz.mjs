// `npm run fuzz [-- <reader|all> [count] [seed]]`: mutated files against every reader under the sanitizers.
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { root } from "./fingerprint.mjs";

const [target = "all", count = "100000", ...rest] = process.argv.slice(2);
const asan = join(root, "build", "asan");
const run = (command, args, options) =>
  spawnSync(command, args, { stdio: "inherit", cwd: root, ...options }).status ?? 1;
const configure = [
  "-S",
  root,
  "-B",
  asan,
  "-DPC_ADDON=OFF",
  "-DPC_CUDA=OFF",
  "-DPC_TESTS=ON",
  "-DPC_SANITIZE=ON",
  "-DCMAKE_BUILD_TYPE=Sanitize",
  "-DCMAKE_CXX_FLAGS_SANITIZE=-O1",
];
if (run("cmake", configure) !== 0 || run("cmake", ["--build", asan, "--target", "pc_fuzz"]) !== 0) process.exit(1);
const env = { ...process.env, ASAN_OPTIONS: "allocator_may_return_null=1" };
process.exitCode = run(join(asan, "pc_fuzz"), [target, count, ...rest], { cwd: asan, env });
