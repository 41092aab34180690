/** Limits and defaults that the service guarantees. Sizes are bytes, times are milliseconds unless a suffix differs. */

export const KIB = 1024;
export const MIB = 1024 * KIB;
export const GIB = 1024 * MIB;

/** Bulk data is copied out of native memory in blocks of this size. */
export const BLOCK_BYTES = 8 * MIB;
/** Block in which buffers of a frame are sent: small enough to stay in the cache from the copy to the socket. */
export const SEND_BLOCK_BYTES = 1 * MIB;

/** Largest JSON request body of most endpoints, and the largest one that is parsed as a whole on the event loop. */
export const MAX_BODY_BYTES = 1 * MIB;
/** Largest JSON request body of the endpoints that take lists of points or grids. Keep larger inputs in a session. */
export const MAX_LIST_BODY_BYTES = 511 * MIB;
/** Largest JSON text of a request with a QSM, besides its lists of numbers: about 250,000 cylinders. */
export const MAX_QSM_BODY_BYTES = 64 * MIB;
/** Largest PHB1 request body: 89 million points. */
export const MAX_FRAME_BODY_BYTES = 1 * GIB;
/** Memory for receiving a PHB1 body, per byte of it: the frame, and columns of 8 bytes for every 4. */
export const FRAME_BODY_BYTES_PER_BYTE = 3;
/** Deepest nesting of a JSON body above MAX_BODY_BYTES. */
export const MAX_BODY_DEPTH = 512;
/**
 * Memory for receiving a body above MAX_BODY_BYTES, per byte of it: its text, and columns of 8 bytes per number, which
 * takes two characters at least.
 */
export const LIST_BODY_BYTES_PER_BYTE = 5;
/** A request whose body makes no progress for this long is answered 408, seconds. */
export const DEFAULT_BODY_STALL_S = 30;
/** A staged scene document that nobody asks for is removed after this time, seconds. */
export const SCENE_TTL_S = 3600;
/** Uploaded files that no client deletes are removed after this time. */
export const UPLOAD_TTL_S = 86_400;
/** Longest name that a client may give an uploaded file. */
export const MAX_UPLOAD_NAME_CHARS = 1024;
/** Most members of a project file; largest manifest and largest description of a session in it, bytes. */
export const MAX_PROJECT_MEMBERS = 2_000_000;
export const MAX_MANIFEST_BYTES = 256 * MIB;
export const MAX_SESSION_FILE_BYTES = 64 * MIB;
/** Memory of a save or an open besides the sessions. */
export const PROJECT_SCRATCH_BYTES = 192 * MIB;
/** How often a save looks whether another save of the same project has ended. */
export const PROJECT_LOCK_POLL_MS = 250;
/** Largest uploaded file (multipart); it is written to disk while it arrives. */
export const MAX_UPLOAD_BYTES = 64 * GIB;
/** An upload leaves at least this much of the disk free, for the sessions that are made from it. */
export const MIN_FREE_AFTER_UPLOAD_BYTES = 512 * MIB;

/** Largest JSON header of a PHB1 frame, padding included. */
export const MAX_FRAME_HEADER_BYTES = 64 * MIB;
/** Largest number of buffers in one PHB1 frame. */
export const MAX_FRAME_BUFFERS = 4096;
/** Largest payload of one PHP1 marker, padding included. */
export const MAX_MARKER_BYTES = 1 * MIB;
/** Message texts in markers are cut to this length, so that a marker stays below MAX_MARKER_BYTES. */
export const MAX_MARKER_TEXT_CHARS = 16_384;

/** JSON arrays longer than this are written in pieces. */
export const JSON_STREAM_ARRAY_LENGTH = 10_000;

/** Interval for polling a run's progress while it changes, and while it does not. */
export const PROGRESS_POLL_MS = 20;
export const PROGRESS_IDLE_POLL_MS = 100;
/** After this time without data on a run stream, four spaces are sent. */
export const KEEPALIVE_MS = 5_000;

/** Longest interval between checks of a waiting admission; a longer wait is logged once. */
export const ADMISSION_POLL_MS = 2_000;
/** Smallest admission budget, however little memory is free. */
export const MIN_ADMISSION_BUDGET_BYTES = 1 * GIB;
/** Budget if the size of the machine's memory is unknown. */
export const UNKNOWN_MEMORY_BUDGET_BYTES = 4 * GIB;
/** Share of the free memory that admission may assign. */
export const AVAILABLE_MEMORY_SHARE = 0.7;

export const DEFAULT_OCTREE_CACHE_MAX_BYTES = 20 * GIB;
export const DEFAULT_MEMORY_BUDGET_FRACTION = 0.5;

/** A session idle for this long is spilled: its columns become mapped files. */
export const DEFAULT_SESSION_IDLE_TTL_S = 1800;
/** Also spilled: the least recently used sessions beyond one per GiB of budget, within these bounds. */
export const MIN_CLOUD_SESSIONS = 4;
export const MAX_CLOUD_SESSIONS = 32;
/** Number of delete steps that can be undone. */
export const DEFAULT_MAX_DELETED_HISTORY = 50;
/** Limits of the label strokes per column that can be undone: number, and bytes in total. */
export const MAX_LABEL_STROKES = 2000;
export const MAX_LABEL_HISTORY_BYTES = 256 * MIB;
/** extract_by_column asks before it creates more sessions than this. */
export const MAX_UNASKED_CHILDREN = 1000;
/** Longest texts that a session keeps in its journal, and most columns of a column plan. */
export const MAX_STROKE_ID_CHARS = 256;
export const MAX_SLUG_CHARS = 256;
export const MAX_LABEL_CHARS = 1024;
export const MAX_ASCII_FORMAT_CHARS = 64 * KIB;
export const MAX_PLAN_COLUMNS = 4096;
/** Largest record of a session's journal: a change that needs a larger one is refused. */
export const MAX_JOURNAL_RECORD_BYTES = 64 * MIB;
/** Largest class in a label column, and largest value in an instance column. */
export const MAX_CLASS = 255;
export const MAX_INSTANCE = 2 ** 24;

/** From the first number of points on, ror and voxel_count run in tiles of about the second number. */
export const DEFAULT_DENOISE_TILE_MIN_POINTS = 4_000_000;
export const DEFAULT_DENOISE_TILE_TARGET_POINTS = 3_000_000;
/** Fewest finite points for labelling noise. */
export const MIN_DENOISE_POINTS = 1000;
/** Noise above this share of a cloud is reported as over-removal, and clients ask before they remove it. */
export const OVER_REMOVAL_FRACTION = 0.2;
/** Noise above this share of a cloud causes a warning: scanner noise is 0.1 to 3 %. */
export const OVER_REMOVAL_WARNING_FRACTION = 0.03;
/** Above this number of points, methods that sort points into a tree cause a warning. */
export const TREE_METHOD_WARNING_POINTS = 30_000_000;

/** From the first number of points on, cloth simulation runs in tiles of about the second number. */
export const DEFAULT_GROUND_TILE_MIN_POINTS = 4_000_000;
export const DEFAULT_GROUND_TILE_TARGET_POINTS = 3_000_000;
/** Fewest finite points for labelling ground. */
export const MIN_GROUND_POINTS = 10;
/** Fewest finite points that are not ground for finding trees, and most of them at once. */
export const MIN_TREE_POINTS = 10;
export const DEFAULT_TREE_MAX_POINTS = 50_000_000;
export const DEFAULT_TREE_MAX_POINTS_TILED = 200_000_000;
/** Graph nodes above which trees are looked for tile by tile, after asking; and those of a tile with its buffer. */
export const DEFAULT_TREE_MAX_NODES = 2_000_000;
export const DEFAULT_TREE_TILE_NODES = 600_000;
/** Fewest finite points for telling wood from leaves. */
export const MIN_WOOD_POINTS = 3;
/** Share of wood above which an answer warns: trees with leaves have less. */
export const MAX_WOOD_SHARE = 0.9;
/** Points above which wood is told from leaves by voxels, and sources of one request. */
export const DEFAULT_WOOD_MAX_POINTS = 1_500_000;
export const MAX_WOOD_SOURCES = 1000;
/** A run expected to take this long needs the user's acknowledgement. */
export const DEFAULT_COST_WARNING_S = 90;

/** A longer request is logged together with the state of the process. */
export const SLOW_REQUEST_MS = 5_000;
/** A shutdown cancels and closes everything within this time. */
export const SHUTDOWN_GRACE_MS = 1_000;
/** Time limit of the device probe of /api/device-info. */
export const DEVICE_PROBE_TIMEOUT_MS = 5_000;

/** Client time-outs. On a streamed response, the time restarts at every chunk. */
export const CLIENT_TIMEOUT_MS = {
  version: 2_000,
  quick: 10_000,
  preview: 60_000,
  upload: 120_000,
  export: 120_000,
  distance: 120_000,
  register: 120_000,
  register_meshes: 180_000,
  edit: 300_000,
  heavy: 600_000,
  project: 3_600_000,
} as const;
/** A canceling client waits this long for the answer of its cancel request before it closes the connection. */
export const CLIENT_CANCEL_WAIT_MS = 1_000;
/** Largest file in the JSON answer of an export: base64 adds a third, and strings are limited to about 512 MB. */
export const MAX_INLINE_EXPORT_BYTES = 350 * MIB;
/** Largest images of a mesh in its answer, in total: base64 of them must fit in the header of a PHB1 frame. */
export const MAX_TEXTURE_BYTES = 32 * MIB;
/** Most triangles that the answer lists by material. */
export const MAX_LISTED_TRIANGLES = 1_000_000;
/** Most voxels of a leaf area density: 400 bytes of JSON each, and strings are limited to about 512 MB. */
export const MAX_LAD_VOXELS = 1_000_000;
/** Most scans that are inverted together. */
export const MAX_LAD_SCANS = 1_000;
/** Most pulses of a scan whose misses are recovered; each miss takes 44 bytes. */
export const MAX_BACKFILL_CELLS = 200_000_000;
/** Fewest beams of a voxel, if a request does not say. */
export const DEFAULT_MIN_VOXEL_HITS = 5;
/** Width of a leaf, metres, if a request does not say. */
export const DEFAULT_ELEMENT_WIDTH_M = 0.05;
/** Most values of a label column that tell wood from leaves. */
export const MAX_WOOD_SPLIT_VALUES = 256;
/** Column of the labels of wood segmentation: 1 = wood, 2 = leaf. */
export const WOOD_CLASS_SLUG = "wood_class";
/** Projection of wood over its whole surface: mean of sin(angle to the beam) / pi over axes in any direction. */
export const WOOD_PROJECTION = 0.25;
/** Longest edge of a triangle of leaves, metres, and its largest longest / shortest edge, if a request does not say. */
export const DEFAULT_LAD_LMAX_M = 0.1;
export const DEFAULT_LAD_ASPECT = 4;
/** Mean edges of a voxel that all beams together must cross, if a request does not say. */
export const DEFAULT_OCCLUSION_EDGES = 100;
/** Most thresholds of a cloud-to-mesh distance. */
export const MAX_DISTANCE_BANDS = 100;
/** Most neighbours of a point of a skeleton's graph, and of its outlier removal. */
export const MAX_SKELETON_NEIGHBORS = 1_000;
/** Most level sets of a skeleton. */
export const MAX_SKELETON_LEVELS = 100_000;
/** Most rounds of the smoothing of a skeleton. */
export const MAX_SKELETON_SMOOTHING = 1_000;
/** Fewest points that a skeleton is found of. */
export const MIN_SKELETON_POINTS = 50;
/** Most starts of a leaf inversion. */
export const MAX_PROSPECT_STARTS = 100;
/** Most sessions that are meshed together. */
export const MAX_MESH_SOURCES = 1_000;
/** Most scans that are triangulated together. */
export const MAX_SCANS = 1_000;
/** Most triangles in the frame of an angular triangulation. */
export const MAX_SCAN_TRIANGLES = 12_000_000;
/** Filter of an angular triangulation: longest edge, and longest over shortest edge. */
export const DEFAULT_SCAN_LMAX_M = 0.5;
export const DEFAULT_SCAN_ASPECT = 4;
/** From this lmax / median spacing on, triangles probably bridge gaps: between a healthy 1 to 1.5 and a bridging 7. */
export const BRIDGING_RATIO = 3;
/** Fewest points of a mesh. */
export const MIN_MESH_POINTS = 3;
/** Levels of the octree of a Poisson reconstruction. */
export const DEFAULT_POISSON_DEPTH = 8;
export const MAX_POISSON_DEPTH = 12;
/** Neighbours for a normal. */
export const DEFAULT_NORMAL_RADIUS_M = 0.1;
export const DEFAULT_NORMAL_NEIGHBORS = 30;
/** Longest header of a PLY mesh, lines. */
export const MAX_MESH_HEADER_LINES = 10_000;
/** Most cells in one scan of a PTX file: about 20 GB of text. */
export const MAX_PTX_CELLS = 1_000_000_000;
/** Most cells of a terrain raster. */
export const MAX_DEM_CELLS = 4_000_000;
/** Most columns of a voxel grid. */
export const MAX_VOXEL_COLUMNS = 4_000_000;
/** Most crowns in one answer: 40 kB of JSON each, and strings are limited to about 512 MB. */
export const MAX_FITTED_CROWNS = 10_000;
/** Most triangles of one crown, and of all alpha shapes in one answer: 66 bytes of JSON each. */
export const MAX_CROWN_TRIANGLES = 1_000_000;
export const MAX_ANSWER_CROWN_TRIANGLES = 6_000_000;
/** Most cells of a voxel grid: their numbers fit in uint32, with one that means none. */
export const MAX_VOXEL_CELLS = 4_294_967_294;

/** Plant that grows if a request names none, and its age. */
export const DEFAULT_PLANT_TYPE = "bean";
export const DEFAULT_PLANT_AGE_DAYS = 30;
export const DEFAULT_PLANT_SPACING_M = 0.5;
/** Most triangles of a plant in JSON: 330 bytes each, and strings are limited to about 512 MB. Frames may have more. */
export const MAX_PLANT_TRIANGLES = 1_000_000;
/** Most plants of a canopy. */
export const MAX_CANOPY_PLANTS = 1_000_000;
/** Plant sessions: how many are kept, and how long an unused one is. */
export const DEFAULT_MAX_PLANT_SESSIONS = 8;
export const DEFAULT_PLANT_SESSION_IDLE_S = 1800;
/** Largest file of a user's species folder, and most files in it. */
export const MAX_SPECIES_FILE_BYTES = 4 * MIB;
export const MAX_SPECIES_FILES = 1000;
/** Longest morph expression, and most edits in it. */
export const MAX_MORPH_EXPRESSION_CHARS = 100_000;
export const MAX_MORPH_EDITS = 1000;
/** Free parameters of a fitted curve, and bounds of one without. */
export const MAX_FIT_PARAMETERS = 64;
export const DEFAULT_FIT_BOUND = 1e10;

/** Synthetic scans: scanners of a request, rays of a pulse, returns of a pulse (misses have the index 99), prisms. */
export const MAX_SCANNERS = 256;
export const DEFAULT_RAYS_PER_PULSE = 100;
export const MAX_RAYS_PER_PULSE = 100_000;
export const MAX_PULSE_RETURNS = 99;
export const MAX_RISLEY_PRISMS = 8;
export const DEFAULT_PULSE_DISTANCE_M = 0.02;
export const DEFAULT_SCAN_SEED = 20_240_607;
/** Misses of synthetic scans lie this far from the scanner; surfaces beyond are not seen, metres. */
export const SCAN_REACH_M = 1001;
/** More pulses of a scanner cause a warning, and more than the second number an error: pulses have 32-bit numbers. */
export const MANY_SCAN_PULSES = 20_000_000;
export const MAX_SCAN_PULSES = 4_294_967_295;
/** Memory for the rays of a synthetic scan in flight. */
export const DEFAULT_SCAN_SCRATCH_BYTES = 4 * GIB;
/** Most pixels of a texture. */
export const MAX_SCAN_TEXTURE_PIXELS = 4096 * 4096;

/** Columns of a cloud session: each is a mapped file, of which a process has some ten thousand. */
export const MAX_CLOUD_COLUMNS = 4096;

/** Poses that a trajectory is thinned out to, and the most that a request can ask for. */
export const DEFAULT_TARGET_POSES = 3000;
export const MAX_TARGET_POSES = 200_000;
/** Curves of one table, and its bytes. */
export const MAX_FITTED_CURVES = 1000;
export const MAX_FIT_TABLE_BYTES = 4 * MIB;
/** Of separated text; blank rows and cells count. */
export const MAX_FIT_TABLE_ROWS = 100_000;
export const MAX_FIT_TABLE_CELLS = 500_000;
/** Unpacked XML of a workbook with a table to fit. */
export const MAX_FIT_WORKBOOK_BYTES = 4 * MIB;

/** Packages of networks: bytes of model.onnx and of model.json, characters and depth of it, operators, tensors, fields. */
export const MAX_MODEL_BYTES = 64 * MIB;
export const MAX_MODEL_JSON_BYTES = 1 * MIB;
export const MAX_MODEL_TEXT_CHARS = 200;
export const MAX_MODEL_JSON_DEPTH = 16;
export const MAX_MODEL_NODES = 10_000;
export const MAX_MODEL_FIELDS = 400_000;
export const MAX_MODEL_TENSOR_RANK = 8;
/** Packages in a folder of models that are read. */
export const MAX_MODELS = 200;
/** Versions of the ONNX format and of its operators. */
export const MIN_MODEL_IR = 3;
export const MAX_MODEL_IR = 10;
export const MIN_MODEL_OPSET = 13;
export const MAX_MODEL_OPSET = 21;
/** Crops of a network, voxels; as cpp/ops/wood/voxel_hierarchy.h. */
export const MIN_CROP_VOXELS = 256;
export const MAX_CROP_VOXELS = 65_536;
export const MIN_MODEL_VOXEL_M = 0.001;
/** Share of the voxels that may hold one point alone, where a model sees finer voxels in denser clouds. */
export const DEFAULT_MOST_SINGLE = 0.8;
export const DEFAULT_CROP_VOXELS = 24_000;
export const DEFAULT_CROP_INNER_FRACTION = 0.7;
export const MAX_VOXEL_LEVELS = 6;
export const MAX_VOXEL_NEIGHBORS = 64;
export const MAX_MODEL_CLASSES = 16;
/** Steps from neighbour to neighbour that a network may see. */
export const MAX_CROP_HOPS = 8;
/** Memory that the process of a network may use, and how often it looks; also how often it looks for its parent. */
export const MAX_NETWORK_BYTES = 3 * GIB;
export const NETWORK_WATCH_MS = 50;
/** Time for starting the process and loading a network, for one crop, and for the probe of the device. */
export const NETWORK_LOAD_TIMEOUT_MS = 60_000;
export const NETWORK_CROP_TIMEOUT_MS = 120_000;
/** Messages to and from the process of a network. */
export const MAX_NETWORK_HEADER_BYTES = 64 * KIB;
export const MAX_NETWORK_FRAME_BYTES = 1 * GIB;
/** What such a process says about its end; the last bytes are kept. */
export const MAX_NETWORK_STDERR_CHARS = 4096;
/** More threads gain nothing for one crop. */
export const MAX_NETWORK_THREADS = 8;
/** Expected duration of method ml on two processors: of the first point, and of each (27 to 33 us of processor time were seen). */
export const WOOD_NETWORK_START_S = 1;
export const WOOD_NETWORK_SECONDS_PER_POINT = 20e-6;
