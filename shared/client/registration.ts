import type { CloudRegisterRequest } from "../contract/c2c.ts";
import { type DistanceRequest, DistanceSuccess, type MeshRegisterRequest } from "../contract/c2m.ts";
import { IcpSuccess } from "../contract/icp.ts";
import type { MeshPairRegisterRequest } from "../contract/m2m.ts";
import { CLIENT_TIMEOUT_MS } from "../limits.ts";
import type { Calls } from "./calls.ts";
import type { ListRequest } from "./list-request.ts";
import type { RunOptions } from "./transport.ts";

/** Clouds and meshes compared and aligned. */
export const registrationClient = (calls: Calls) => ({
  /** Measures the distances from inline points or the hits of a session to a mesh. */
  meshDistance: (request: ListRequest<typeof DistanceRequest>, run?: RunOptions) =>
    calls.runJson(DistanceSuccess, "/api/c2m/distance", request, CLIENT_TIMEOUT_MS.distance, run),
  /** Finds the rigid motion of the source cloud onto the target cloud. */
  cloudRegister: (request: ListRequest<typeof CloudRegisterRequest>, run?: RunOptions) =>
    calls.runJson(IcpSuccess, "/api/c2c/icp-register", request, CLIENT_TIMEOUT_MS.register, run),
  /** Finds the rigid motion of a mesh onto inline points or the hits of a session. */
  meshRegister: (request: ListRequest<typeof MeshRegisterRequest>, run?: RunOptions) =>
    calls.runJson(IcpSuccess, "/api/c2m/icp-register", request, CLIENT_TIMEOUT_MS.register, run),
  /** Finds the rigid motion of the source mesh onto the target mesh. */
  meshPairRegister: (request: ListRequest<typeof MeshPairRegisterRequest>, run?: RunOptions) =>
    calls.runJson(IcpSuccess, "/api/m2m/icp-register", request, CLIENT_TIMEOUT_MS.register_meshes, run),
});
