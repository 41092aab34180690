// The Point Cloud Library as an outside program, built where libpcl-dev is installed. It is no part of the product.
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { root } from "../bench/folders.ts";

const SOURCE = join(root, "test/accuracy/peer-pcl.cpp");
const FOLDER = join(root, "build/peers");
const PROGRAM = join(FOLDER, "peer-pcl");
const LIBRARIES = ["registration", "surface", "features", "filters", "search", "kdtree", "octree", "common"];

/** The include folders that pkg-config tells; null without the library. */
function includes(): string[] | null {
  const told = spawnSync("pkg-config", ["--cflags", "pcl_registration", "pcl_surface", "eigen3"], { encoding: "utf8" });
  return told.status === 0 ? told.stdout.trim().split(/\s+/) : null;
}

/** The program, built if it is older than its source; null where the library is not installed. */
function program(): string | null {
  if (existsSync(PROGRAM) && statSync(PROGRAM).mtimeMs > statSync(SOURCE).mtimeMs) return PROGRAM;
  const flags = includes();
  if (!flags) return null;
  mkdirSync(FOLDER, { recursive: true });
  const libraries = [...LIBRARIES.map((name) => `-lpcl_${name}`), "-lflann_cpp", "-llz4", "-lboost_system"];
  const made = spawnSync("g++", ["-std=c++17", "-O2", ...flags, SOURCE, "-o", PROGRAM, ...libraries], {
    encoding: "utf8",
  });
  if (made.status !== 0) throw new Error(`peer-pcl.cpp: ${made.stderr.slice(0, 2000)}`);
  return PROGRAM;
}

function run(args: readonly string[]): string {
  const path = program();
  if (!path) throw new Error("libpcl-dev is not installed");
  const { status, stdout, stderr } = spawnSync(path, args, { encoding: "utf8", maxBuffer: 2 ** 26 });
  if (status !== 0) throw new Error(`peer-pcl: ${stderr.slice(0, 2000)}`);
  return stdout;
}

function written(folder: string, name: string, values: Float64Array): string {
  const path = join(folder, name);
  writeFileSync(path, new Uint8Array(values.buffer, values.byteOffset, values.byteLength));
  return path;
}

export const hasPcl = (): boolean => program() !== null;

function centroid(xyz: Float64Array): readonly number[] {
  const sum = [0, 0, 0];
  for (let i = 0; i < xyz.length; i += 1) sum[i % 3] = (sum[i % 3] ?? 0) + (xyz[i] ?? 0);
  return sum.map((value) => (3 * value) / xyz.length);
}

/** The pose between frames that are moved by `from` and `to`: x - to = R (y - from) + t. */
function reframed(pose: readonly number[], from: readonly number[], to: readonly number[]): number[] {
  return pose.map((value, i) => {
    if (i % 4 < 3 || i > 11) return value;
    const turned = [0, 1, 2].reduce((sum, k) => sum + (pose[i - 3 + k] ?? 0) * (from[k] ?? 0), 0);
    return value + turned - (to[i >> 2] ?? 0);
  });
}

/** Poses (4x4, row by row) that ICP reaches from each start, in frames at the centroids, as the library is single precision. */
export function pclPoses(
  method: "plane" | "gicp",
  { target, source, extent }: { target: Float64Array; source: Float64Array; extent: number },
  starts: readonly (readonly number[])[],
): readonly (readonly number[])[] {
  const folder = mkdtempSync(join(tmpdir(), "pcl-"));
  const [to, from] = [centroid(target), centroid(source)];
  const local = (xyz: Float64Array, center: readonly number[]) => xyz.map((value, i) => value - (center[i % 3] ?? 0));
  try {
    const files = [written(folder, "target", local(target, to)), written(folder, "source", local(source, from))];
    const begin = Float64Array.from(starts.flatMap((start) => reframed(start, from, to)));
    const lines = run(["icp", method, ...files, String(extent), written(folder, "starts", begin)])
      .trim()
      .split("\n");
    const back = [from, to].map((center) => center.map((value) => -value)) as [number[], number[]];
    return lines.map((line) => reframed(line.trim().split(" ").map(Number), ...back));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Corners of the triangles that greedy projection makes of points.bin and normals.bin in the folder. */
export function pclGreedy(folder: string, radius: number): Uint32Array {
  const path = join(folder, "greedy.bin");
  run(["greedy", join(folder, "points.bin"), join(folder, "normals.bin"), String(radius), path]);
  return new Uint32Array(Uint8Array.from(readFileSync(path)).buffer);
}
