/* The parts of the OpenAPI document that no route brings. */

const WIRE = "docs/wire.md";

/** What the answers are that no JSON Schema describes byte by byte. */
export const STREAMS = {
  tail:
    `A run. As application/octet-stream: PHP1 progress markers (the first carries run_id), keepalive spaces, then this ` +
    `JSON document. With "Accept: application/json": the document alone, behind keepalive spaces when it takes longer ` +
    `than 5 seconds; a failure after the first space is a RunFailure under status 200. Bytes: ${WIRE}.`,
  frame:
    `A run: PHP1 progress markers (the first carries run_id), keepalive spaces, then a PHB1 frame with these contents. ` +
    `A frame is no JSON, so the Accept header changes nothing. Bytes: ${WIRE}.`,
  points: `A PHX1 point stream with these contents. Bytes: ${WIRE}.`,
} as const;

export const RUN_ID_HEADER = {
  description: "plain JSON only: id of the run for POST /api/cancel/{run_id}; a stream has it in its first marker",
  schema: { type: "string" },
} as const;

export const STATUS_TEXT: Readonly<Record<number, string>> = {
  400: "A value breaks a rule; `detail` names value, rule and way out",
  401: "The service runs with a token and the request does not carry it",
  403: "The request comes from a page or under a host that may not use this service",
  404: "What the request names is not there",
  409: "The request is in conflict with what goes on; a cost warning is answered by sending acknowledge_cost",
  413: "The body is too large",
  415: "The body is of a type that is not taken here",
  416: "The byte range is behind the end of the file",
  422: "The request breaks its schema; `detail` has an entry per issue",
  499: "The computation was canceled",
  500: "The service failed",
  503: "The machine has too little memory",
  507: "The disk is full",
};

export const TAGS = {
  service: "Liveness, version, device, cancel",
  files: "Files of the machine: look, read, write. No session is made",
  octree: "Files of an octree for a viewer, and building them again",
  "cloud sessions": "Clouds that stay in the service: create, edit with undo, cut, join, move, close",
  classify: "Labels per point: noise, ground",
  terrain: "Terrain, surface and canopy height, rasters, voxel grids on the ground",
} as const;

export const DOCUMENT_HEAD = {
  info: {
    title: "Point cloud backend",
    description:
      "Local service for LiDAR point clouds and plants. Lengths are metres, angles degrees and times seconds unless a " +
      "field says otherwise; +z is up. The true world frame is the file's coordinates in metres; a session keeps them " +
      "in its stored frame = true world - world_shift. Long operations are runs: they stream progress, can be canceled " +
      `and end with their result. ${WIRE} describes every byte format, docs/embedding.md how an application starts the ` +
      "service.",
    license: { name: "MIT", identifier: "MIT" },
  },
  servers: [
    { url: "/", description: "the service that serves this document" },
    {
      url: "http://127.0.0.1:{port}",
      description: "a service on this machine; it listens on the loopback address alone",
      variables: { port: { default: "8008", description: "APP_BACKEND_PORT, or the port of its READY line" } },
    },
  ],
  tags: Object.entries(TAGS).map(([name, description]) => ({ name, description })),
  security: [{}, { token: [] }],
  components: {
    securitySchemes: {
      token: {
        type: "http",
        scheme: "bearer",
        description: "APP_AUTH_TOKEN; without that variable the service asks for no token",
      },
    },
  },
} as const;
