/** Every constant the service promises. Sizes are bytes, times are milliseconds unless the name says otherwise. */

export const KIB = 1024;
export const MIB = 1024 * KIB;
export const GIB = 1024 * MIB;

/** Bulk data leaves native memory in copies of this size. */
export const BLOCK_BYTES = 8 * MIB;

/**
 * Largest JSON request body. The text becomes one JavaScript string, and V8 ends strings at 2^29 - 24 characters.
 * Larger inputs travel as PHB1 frames or stay in a session.
 */
export const MAX_JSON_BODY_BYTES = 511 * MIB;
/** Largest PHB1 request body. Electron ends one ArrayBuffer at 2046 MiB, and collecting a body needs it twice. */
export const MAX_FRAME_BODY_BYTES = 1 * GIB;
/** Largest uploaded file (multipart); it goes to disk as it arrives. */
export const MAX_UPLOAD_BYTES = 64 * GIB;

/** Largest JSON header of a PHB1 frame, padding included. */
export const MAX_FRAME_HEADER_BYTES = 64 * MIB;
/** Largest number of buffers in one PHB1 frame. */
export const MAX_FRAME_BUFFERS = 4096;
/** Largest payload of one PHP1 marker, padding included. */
export const MAX_MARKER_BYTES = 1 * MIB;
/** Message texts in markers are cut here, so that no label can outgrow MAX_MARKER_BYTES. */
export const MAX_MARKER_TEXT_CHARS = 16_384;

/** JSON arrays longer than this are written piece by piece. */
export const JSON_STREAM_ARRAY_LENGTH = 10_000;

/** How often a run's progress is read while it moves, and while it does not. */
export const PROGRESS_POLL_MS = 20;
export const PROGRESS_IDLE_POLL_MS = 100;
/** Silence on a run stream after which four spaces are sent. */
export const KEEPALIVE_MS = 5_000;

/** A waiting admission is looked at again at least this often; a longer wait is logged once. */
export const ADMISSION_POLL_MS = 2_000;
/** Admission never plans with less than this, however little is free. */
export const MIN_ADMISSION_BUDGET_BYTES = 1 * GIB;
/** Planning budget when the size of the machine's memory is unknown. */
export const UNKNOWN_MEMORY_BUDGET_BYTES = 4 * GIB;
/** Share of the free memory that admission may plan with. */
export const AVAILABLE_MEMORY_SHARE = 0.7;

export const DEFAULT_OCTREE_CACHE_MAX_BYTES = 20 * GIB;
export const DEFAULT_MEMORY_BUDGET_FRACTION = 0.5;

/** A session idle for so long keeps nothing in memory that a file could hold. */
export const DEFAULT_SESSION_IDLE_TTL_S = 1800;
/** The same for the least recently used beyond one per GiB of budget, between these bounds. */
export const MIN_CLOUD_SESSIONS = 4;
export const MAX_CLOUD_SESSIONS = 32;
/** Delete steps that can be taken back. */
export const DEFAULT_MAX_DELETED_HISTORY = 50;
/** Label strokes that can be taken back, per column: so many, and so many bytes of them. */
export const MAX_LABEL_STROKES = 2000;
export const MAX_LABEL_HISTORY_BYTES = 256 * MIB;
/** Largest class of a label column, and of an instance column. */
export const MAX_CLASS = 255;
export const MAX_INSTANCE = 2 ** 24;

/** From so many points on a cloud is denoised by tiles of about so many (ror, voxel_count). */
export const DEFAULT_DENOISE_TILE_MIN_POINTS = 4_000_000;
export const DEFAULT_DENOISE_TILE_TARGET_POINTS = 3_000_000;
/** Finite points that noise can be told from. */
export const MIN_DENOISE_POINTS = 1000;
/** More of a cloud than this is no scanner noise, which is 0.1 to 3 %. */
export const OVER_REMOVAL_FRACTION = 0.2;
/** From so many points on a method that sorts points into a tree is warned about. */
export const TREE_METHOD_WARNING_POINTS = 30_000_000;

/** From so many points on the cloth drops by tiles of about so many. */
export const DEFAULT_GROUND_TILE_MIN_POINTS = 4_000_000;
export const DEFAULT_GROUND_TILE_TARGET_POINTS = 3_000_000;
/** Finite points that ground can be told among. */
export const MIN_GROUND_POINTS = 10;
/** A run that is expected to take so long is asked about first. */
export const DEFAULT_COST_WARNING_S = 90;

/** A request longer than this is logged with the process state around it. */
export const SLOW_REQUEST_MS = 5_000;
/** Shutdown: everything is canceled and closed within this time. */
export const SHUTDOWN_GRACE_MS = 1_000;
/** The device probe of /api/device-info is given this long. */
export const DEVICE_PROBE_TIMEOUT_MS = 5_000;

/** Client time-outs. On a streamed response the clock restarts at every chunk. */
export const CLIENT_TIMEOUT_MS = {
  version: 2_000,
  quick: 10_000,
  preview: 60_000,
  upload: 120_000,
  export: 120_000,
  edit: 300_000,
  heavy: 600_000,
} as const;
/** How long a canceling client waits for its cancel request before it drops the connection anyway. */
export const CLIENT_CANCEL_WAIT_MS = 1_000;
/** Largest file an export returns inside its JSON answer: base64 grows it by a third, and the client's strings end near 512 MB. */
export const MAX_INLINE_EXPORT_BYTES = 350 * MIB;
/** Cells of one scan of a PTX file: some 20 GB of text. */
export const MAX_PTX_CELLS = 1_000_000_000;
/** Cells of a terrain raster. */
export const MAX_DEM_CELLS = 4_000_000;
/** Columns of a voxel grid. */
export const MAX_VOXEL_COLUMNS = 4_000_000;
