import { RebuildOctreeResponse } from "../contract/cloud-session/rebuild-octree.ts";
import type { OctreeFile } from "../contract/octree.ts";
import { CLIENT_TIMEOUT_MS } from "../limits.ts";
import { type Calls, sessionPath } from "./calls.ts";
import type { CallOptions } from "./transport.ts";

/** Byte range of a file; both ends are included. */
export interface FileRange {
  readonly start: number;
  readonly end: number;
}

/** Rebuilds octrees and reads their files. */
export const octreeClient = (calls: Calls) => ({
  rebuildOctree: (id: string, call?: CallOptions) =>
    calls.post(RebuildOctreeResponse, sessionPath(id, "rebuild_octree"), undefined, CLIENT_TIMEOUT_MS.heavy, call),
  /** Reads a file of an octree, or a part of it. */
  octreeFile: (cacheId: string, name: OctreeFile, range?: FileRange, call?: CallOptions): Promise<Uint8Array> => {
    const headers = range ? { range: `bytes=${range.start}-${range.end}` } : {};
    const path = `/octree/${encodeURIComponent(cacheId)}/${name}`;
    return calls.transport.bytes({ method: "GET", path, headers, timeoutMs: CLIENT_TIMEOUT_MS.heavy }, call);
  },
});
