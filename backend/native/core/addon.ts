import type { DenoiseNative } from "../classify/denoise.ts";
import type { GroundNative } from "../classify/ground.ts";
import type { CloudNative } from "../cloud/cloud.ts";
import type { CloudEditNative } from "../cloud/edit.ts";
import type { MasksNative } from "../cloud/masks.ts";
import type { ReadersNative } from "../files/readers.ts";
import type { WritersNative } from "../files/writers.ts";
import type { OctreeNative } from "../octree.ts";
import type { DemNative } from "../terrain.ts";
import type { ColumnFilesNative } from "./column-files.ts";
import type { DeviceNative } from "./device.ts";
import type { DType, NativeColumn } from "./handles.ts";
import { addonAs } from "./load.ts";
import type { ThreadsNative } from "./threads.ts";

/** Everything the addon exports. Services call the typed facades; this view of the whole is for columns made by hand and for tests. */
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
    DeviceNative,
    ThreadsNative {
  Column: new (dtype: DType, bytes: Uint8Array) => NativeColumn;
  /** Bytes in anonymous native pages; tests assert that it returns to its start. */
  bulkBytesInUse(): number;
  /** Until the function is called, up to `bytes` of freed pages stay with the process for the next blocks. */
  reusePages(bytes: number): () => void;
}

export const addon = addonAs<Addon>();
