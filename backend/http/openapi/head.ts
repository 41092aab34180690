/* Parts of the OpenAPI document that do not depend on the routes. */

const WIRE = "docs/wire.md";

/** Descriptions of responses whose bytes a JSON Schema cannot describe. */
export const STREAMS = {
  tail:
    `A run. As application/octet-stream: PHP1 progress markers (the first contains run_id) and keepalive spaces, ` +
    `followed by this JSON document. With "Accept: application/json": the document alone, preceded by keepalive ` +
    `spaces if the run takes longer than 5 seconds. A failure after the first space is a RunFailure with status 200. ` +
    `${WIRE} describes the bytes.`,
  frame:
    `A run: PHP1 progress markers (the first contains run_id) and keepalive spaces, followed by a PHB1 frame with ` +
    `these contents. The Accept header has no effect, because a frame is not JSON. ${WIRE} describes the bytes.`,
  answer:
    "A run. The document is preceded by keepalive spaces if the run takes longer than 5 seconds; a later failure is " +
    "a RunFailure with status 200.",
  either:
    `A run. The JSON document, preceded by keepalive spaces if the run takes longer than 5 seconds. With "Accept: ` +
    `application/octet-stream": PHP1 progress markers and a PHB1 frame. ${WIRE} describes the bytes.`,
  events:
    `A run as Server-Sent Events: a field of this object per event. The first event is run_id, the last one result, ` +
    `canceled or error. ${WIRE} describes the bytes.`,
  points: `A PHX1 point stream with these contents. ${WIRE} describes the bytes.`,
} as const;

export const RUN_ID_HEADER = {
  description: "plain JSON only: run id for POST /api/cancel/{run_id}; in a stream, the first marker contains it",
  schema: { type: "string" },
} as const;

export const STATUS_TEXT: Readonly<Record<number, string>> = {
  400: "A value is invalid; `detail` names the value, the rule and a remedy",
  401: "The service requires an access token and the request does not contain it",
  403: "The request comes from a page, or uses a host name, that may not access this service",
  404: "The file, session, octree or path does not exist",
  408: "The body of the request stopped arriving",
  409: "The request conflicts with another operation, or needs confirmation of its cost with acknowledge_cost",
  413: "The body is too large",
  415: "The content type of the body is not supported",
  416: "The byte range starts beyond the end of the file",
  422: "The request does not match its schema; `detail` has one entry per issue",
  499: "The run was canceled",
  500: "The service failed",
  503: "The machine has too little memory",
  507: "The disk is full",
};

export const TAGS = {
  service: "Status of the service: liveness, version, computing device; and cancelling runs",
  files: "Preview, read and write files on the service's machine, without creating a session",
  octree: "Serve octree files to a viewer, and rebuild octrees",
  "cloud sessions": "Clouds kept in the service: create, edit with undo, split, merge, transform, close",
  classify: "Label points as noise or ground",
  terrain: "Terrain, surface and canopy height models, raster export, voxel grids placed on terrain",
  surfaces: "Mesh the points of clouds",
  registration: "Align clouds and meshes (ICP), compare clouds with meshes",
  lad: "Leaf area density of voxels from laser beams",
  trees: "Find the stems and trees of a cloud, and measure them",
  qsm: "Skeletons of plants, and trees as cylinders",
  fit: "Fit solids to the crowns of trees and leaf traits to spectra, render equations, export results",
  lidar: "Scan meshes with synthetic scanners, read trajectories of moving scanners",
  projects: "Project files: clouds with their undo stacks, their display and the scene of a client in one archive",
  plants: "Grow plants and canopies as meshes, in one step or in sessions, and edit them",
} as const;

export const DOCUMENT_HEAD = {
  info: {
    title: "Point cloud backend",
    description:
      "Local service for LiDAR point clouds of plants and terrain. Unless a field states otherwise, lengths are in " +
      "metres, angles in degrees and times in seconds; +z points up. Frames: true world coordinates are those of the " +
      "file, converted to metres; a session stores them less an offset: stored = true world - world_shift. " +
      "Points: a hit is a laser return, a miss (sky point) is a pulse without a return. Survivors are the points " +
      "that were not deleted. Long operations are runs: they report progress, can be canceled and end with their result. " +
      `${WIRE} describes the byte formats, docs/embedding.md explains how an application starts the service.`,
    license: { name: "MIT", identifier: "MIT" },
  },
  servers: [
    { url: "/", description: "the service that returned this document" },
    {
      url: "http://127.0.0.1:{port}",
      description: "a service on this machine; it listens on the loopback address only",
      variables: {
        port: { default: "8008", description: "APP_BACKEND_PORT, or the port in the service's READY line" },
      },
    },
  ],
  tags: Object.entries(TAGS).map(([name, description]) => ({ name, description })),
  security: [{}, { token: [] }],
  components: {
    securitySchemes: {
      token: {
        type: "http",
        scheme: "bearer",
        description: "value of APP_AUTH_TOKEN; no token is required if that variable is unset",
      },
    },
  },
} as const;
