import { MeshImportFrame, MeshImportRequest } from "../../shared/contract/mesh.ts";
import type { Deps } from "../deps.ts";
import { NO_FILE, type ProblemExample } from "../http/problems.ts";
import { streamFrameJob } from "../http/stream.ts";
import type { App } from "../http/types.ts";
import { checkMeshImport, importMesh } from "../services/files/mesh/import.ts";

const NO_MESH: ProblemExample = {
  code: "invalid_argument",
  detail: 'scan.txt: the extension ".txt" is not a mesh format; use .obj, .ply or .stl',
};

export function meshRoutes(app: App, deps: Deps): void {
  app.post(
    "/api/mesh/import",
    {
      schema: {
        operationId: "importMesh",
        summary:
          "Read a mesh from an OBJ file with its materials and textures, or from a PLY or STL file, as a PHB1 frame",
        tags: ["files"],
        body: MeshImportRequest,
      },
      config: { frame: MeshImportFrame, problems: [NO_FILE, NO_MESH] },
    },
    async ({ body, unknownKeys }, reply) => {
      const checked = await checkMeshImport(body, unknownKeys); // 400 and 404 here, before the stream opens
      return streamFrameJob(reply, deps.jobs, (job) => importMesh(checked, deps, job));
    },
  );
}
