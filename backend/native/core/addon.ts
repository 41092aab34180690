import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { AppError } from "../../../shared/errors.ts";
import type { DenoiseNative } from "../classify/denoise.ts";
import type { GroundNative } from "../classify/ground.ts";
import type { CloudNative } from "../cloud/cloud.ts";
import type { CloudEditNative } from "../cloud/edit.ts";
import type { MasksNative } from "../cloud/masks.ts";
import type { ReadersNative } from "../files/readers.ts";
import type { WritersNative } from "../files/writers.ts";
import type { OctreeNative } from "../octree.ts";
import type { DemNative } from "../terrain.ts";
import type { DeviceNative } from "./device.ts";
import type { NativeJob } from "./handles.ts";

/** Element type of a native column; vec3d and rgb16 are interleaved triples of f64 and u16. */
export type DType = "u8" | "i8" | "u16" | "i16" | "u32" | "i32" | "u64" | "i64" | "f32" | "f64" | "vec3d" | "rgb16";

/** Opaque handle on native memory. Copy blocks out with readInto; call release() when done. */
export interface NativeColumn {
  readonly length: number;
  readonly dtype: DType;
  readonly bytes: number;
  /** True when the column is a mapped file of the session store. */
  readonly fileBacked: boolean;
  /** Copies bytes from `byteOffset` on; returns how many, 0 at the end. */
  readInto(out: Uint8Array, byteOffset: number): number;
  release(): void;
}

interface ColumnFilesNative {
  writeColumnFiles(columns: readonly NativeColumn[], paths: readonly string[]): NativeJob<null>;
  syncColumnFile(path: string): NativeJob<null>;
  verifyColumnFile(path: string): NativeJob<boolean>;
  mapColumnFile(path: string): NativeColumn;
  tryLockFile(path: string): (() => void) | null;
}

/** Everything the addon exports. The typed facades beside this file are the only users. */
export interface Addon
  extends ColumnFilesNative,
    ReadersNative,
    WritersNative,
    CloudNative,
    CloudEditNative,
    GroundNative,
    DemNative,
    MasksNative,
    DenoiseNative,
    OctreeNative,
    DeviceNative {
  Column: new (dtype: DType, bytes: Uint8Array) => NativeColumn;
  /** Bytes in anonymous native pages; tests assert that it returns to its start. */
  bulkBytesInUse(): number;
  /** Until the function is called, up to `bytes` of freed pages stay with the process for the next blocks. */
  reusePages(bytes: number): () => void;
  setThreadsOfJobs(threads: number): number;
}

const ADDON = join("build", "native", "Release", "pc.node");

/** The addon's file: beside the running code's package root, whether that runs from source or from a bundle. */
export function addonPath(): string {
  const pinned = process.env.APP_ADDON_PATH;
  if (pinned) return pinned;
  for (let folder = dirname(fileURLToPath(import.meta.url)); ; folder = dirname(folder)) {
    // Native libraries cannot be loaded from inside an asar archive; the packager unpacks them beside it.
    const unpacked = folder.replace(/app\.asar(?=$|[\\/])/, "app.asar.unpacked");
    const path = join(unpacked, ADDON);
    if (existsSync(path)) return path;
    if (dirname(folder) === folder) {
      throw new AppError(
        "internal",
        `the native addon is missing (${ADDON}); run "npm run build" in the project folder`,
      );
    }
  }
}

function load(): Addon {
  // OpenMP's idle threads spin by default, up to 10x CPU on short regions; read once when the runtime loads.
  process.env.OMP_WAIT_POLICY ??= "passive";
  const path = addonPath();
  try {
    return createRequire(import.meta.url)(path) as Addon;
  } catch (error) {
    throw new AppError("internal", `the native addon does not load (${path}): ${(error as Error).message}`, undefined, {
      cause: error,
    });
  }
}

export const addon: Addon = load();
