import { DeleteUploadResponse, UploadResponse } from "../contract/app-upload.ts";
import { type MeshImportRequest, MeshImportSuccess } from "../contract/mesh.ts";
import { type ImportByPathRequest, type PreviewRequest, PreviewResponse } from "../contract/pointcloud.ts";
import { type ScanExportRequest, ScanExportTail } from "../contract/scan-export.ts";
import { CLIENT_TIMEOUT_MS } from "../limits.ts";
import { decodePoints, type PackedPoints } from "../wire/phx1.ts";
import { type Calls, checked, type Input } from "./calls.ts";
import type { CallOptions, RunOptions } from "./transport.ts";

/** An upload is not answered before its last byte is stored; slower disks than this need a longer timeout. */
const SLOWEST_UPLOAD_BYTES_PER_MS = 1000;

/** Previews files, reads small ones and meshes. */
export const filesClient = (calls: Calls) => ({
  /** Returns the columns, metadata and first rows of a file. */
  preview: (request: Input<typeof PreviewRequest>, call?: CallOptions) =>
    calls.post(PreviewResponse, "/api/pointcloud/preview", request, CLIENT_TIMEOUT_MS.preview, call),
  /** Reads a file on the service's machine into flat arrays. */
  importByPath: async (request: Input<typeof ImportByPathRequest>, call?: CallOptions): Promise<PackedPoints> =>
    decodePoints(
      await calls.transport.bytes(
        { method: "POST", path: "/api/pointcloud/import_by_path", json: request, timeoutMs: CLIENT_TIMEOUT_MS.heavy },
        call,
      ),
    ),
  /** Uploads a LAS or LAZ file and reads it into flat arrays. The extension of `name` determines the format. */
  importFile: async (file: Blob, name: string, call?: CallOptions): Promise<PackedPoints> => {
    const form = new FormData();
    form.append("file", file, name);
    return decodePoints(
      await calls.transport.bytes(
        { method: "POST", path: "/api/pointcloud/import", form, timeoutMs: CLIENT_TIMEOUT_MS.upload },
        call,
      ),
    );
  },
  /** Stores a file on the service's machine; the `path` of the answer is for the requests that read files. */
  uploadFile: async (file: Blob, name: string, call?: CallOptions): Promise<UploadResponse> => {
    const path = `/app/upload?name=${encodeURIComponent(name)}`;
    const timeoutMs = CLIENT_TIMEOUT_MS.upload + file.size / SLOWEST_UPLOAD_BYTES_PER_MS;
    return checked(UploadResponse, await calls.transport.json({ method: "POST", path, blob: file, timeoutMs }, call));
  },
  /** Removes an uploaded file; false if there was none. */
  deleteUpload: async (uploadId: string, call?: CallOptions): Promise<DeleteUploadResponse> => {
    const path = `/app/upload/${encodeURIComponent(uploadId)}`;
    const timeoutMs = CLIENT_TIMEOUT_MS.quick;
    return checked(DeleteUploadResponse, await calls.transport.json({ method: "DELETE", path, timeoutMs }, call));
  },
  /** Reads a mesh on the service's machine: triangles, and of OBJ files materials and textures. */
  importMesh: (request: Input<typeof MeshImportRequest>, run?: RunOptions) =>
    calls.runFrame(MeshImportSuccess, "/api/mesh/import", request, run),
  /** Writes scans as an XML bundle, or one file per object. */
  exportScans: (request: Input<typeof ScanExportRequest>, run?: RunOptions) =>
    calls.runJson(ScanExportTail, "/api/scan/export-xml", request, CLIENT_TIMEOUT_MS.export, run),
});
