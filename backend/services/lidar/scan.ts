import { type LidarScanRequest, type Scanner, STANDARD_SCAN_FIELDS } from "../../../shared/contract/lidar.ts";
import type { LidarScanFailure, LidarScanSuccess, ScannedCloud } from "../../../shared/contract/lidar-frame.ts";
import { AppError } from "../../../shared/errors.ts";
import { MANY_SCAN_PULSES, MAX_SCANNERS } from "../../../shared/limits.ts";
import type { Deps } from "../../deps.ts";
import type { Job } from "../../jobs/job.ts";
import { errorText, fromNative } from "../../jobs/native-error.ts";
import { together } from "../../jobs/together.ts";
import * as native from "../../native/ray.ts";
import { ColumnRef } from "../../sessions/column-ref.ts";
import { opDevice } from "../run/device.ts";
import { coarseCoordinates } from "../run/float-steps.ts";
import { unknownKeyWarnings } from "../run/unknown-keys.ts";
import { doubtfulScanner } from "./doubtful-scanner.ts";
import { scanParams } from "./scan-params.ts";
import { openScene, sceneBytes } from "./scan-scene.ts";
import { type ScanRows, scanSession } from "./scan-session.ts";

export interface LidarScanFrame {
  readonly meta: LidarScanSuccess | LidarScanFailure;
  readonly buffers: Buffers;
}
type Buffers = Readonly<Record<string, { readonly dtype: "f32"; readonly length: number; readonly data: ColumnRef }>>;

/** Bytes per pulse: a row with its record, its columns and those of the frame. */
const PULSE_BYTES = 220;
const FAILED = "Synthetic LiDAR scan failed: ";

/** Scans the meshes of a request with all its scanners. A failure is reported in the frame; a cancel is thrown. */
export async function lidarScan(
  request: LidarScanRequest,
  unknown_keys: readonly string[],
  deps: Deps,
  job: Job,
): Promise<LidarScanFrame> {
  const named = unknownKeyWarnings(unknown_keys);
  const made: string[] = []; // sessions
  try {
    const { meta, buffers, told } = await scanned(request, made, deps, job);
    job.checkpoint(); // the last cancel point
    const warnings = [...new Set([...named, ...told])];
    return { meta: { ...meta, ...(warnings.length > 0 ? { warnings } : {}) }, buffers };
  } catch (raw) {
    for (const id of made) await deps.sessions.delete(id); // no client knows them
    if (job.canceled) throw raw;
    const { code, message } = fromNative(raw);
    const error = code === "invalid_argument" ? message : FAILED + message;
    return { meta: { success: false, error, code, ...(named.length > 0 ? { warnings: named } : {}) }, buffers: {} };
  }
}

async function scanned(request: LidarScanRequest, made: string[], deps: Deps, job: Job) {
  const { meshes, scanners } = request;
  job.stage("Loading geometry", 0.05, 0.15);
  if (meshes.length === 0) throw new AppError("invalid_argument", "No geometry to scan");
  if (scanners.length === 0) throw new AppError("invalid_argument", "No scanners defined");
  if (scanners.length > MAX_SCANNERS) {
    throw new AppError("invalid_argument", `There are ${scanners.length} scanners, but the limit is ${MAX_SCANNERS}.`);
  }
  const params = scanners.map((scanner, i) => scanParams(scanner, i, request, job));
  const pulses = params.reduce((sum, { pattern }) => sum + pattern.pulse_count, 0);
  const bytes = sceneBytes(meshes) + PULSE_BYTES * pulses;
  return deps.admission.run(job, "Synthetic scan", bytes, async () => {
    const scene = await openScene(meshes, job);
    job.stage("Configuring scanners", 0.15, 0.15);
    const device = await opDevice(deps);
    const scans: native.SyntheticScan[] = [];
    for (const [i, one] of params.entries()) {
      const trace = () => job.track(() => native.syntheticScan(scene.scene, one, device));
      scans.push(await traced(trace, i, params.length, job));
    }
    const parts: ScannerPart[] = [];
    for (const [i, scan] of scans.entries()) {
      job.stage("Extracting hits", ...part(0.85, 0.95, i, scans.length));
      parts.push(extracted(scanners[i] as Scanner, scan, request));
    }
    const clouds: ScannedCloud[] = [];
    const buffers: Record<string, Buffers[string]> = {};
    const warnings = [
      ...scene.warnings,
      ...params.flatMap(manyPulses),
      ...scans.flatMap(({ warnings }) => warnings),
      ...parts.flatMap(({ warnings }) => warnings),
    ];
    for (const [i, { rows, cloud, sent }] of parts.entries()) {
      job.stage("Building point clouds", ...part(0.95, 1, i, parts.length));
      const quiet = job.quiet();
      const session = rows.positions.length > 0 ? sessionOf(rows, deps, job) : Promise.resolve(null);
      void session.then((kept) => kept?.session && made.push(kept.session.session_id)).catch(() => undefined);
      const [kept, far] = await together(session, frameBuffers(`s${i}.`, sent, buffers, quiet), quiet);
      warnings.push(...coarseCoordinates(far, "The session has them in float64."), ...(kept?.warnings ?? []));
      clouds.push({ ...cloud, ...(kept?.session ? { session: kept.session } : {}) });
    }
    const meta: LidarScanSuccess = { success: true, error: null, scanners: clouds };
    return { meta, told: warnings, buffers };
  });
}

/** The i-th of `count` equal parts of a window. */
const part = (from: number, to: number, i: number, count: number): [number, number] => [
  from + ((to - from) * i) / count,
  Math.min(to, from + ((to - from) * (i + 1)) / count),
];

/** A scan that cannot be kept as a session is still returned. A cancel is thrown. */
async function sessionOf(rows: ScanRows, deps: Deps, job: Job) {
  try {
    return await scanSession(rows, deps, job);
  } catch (error) {
    job.checkpoint();
    return { session: undefined, warnings: [`A scan could not be kept as a session: ${errorText(error)}`] };
  }
}

const manyPulses = ({ pattern: { pulse_count } }: native.SyntheticScanParams): string[] =>
  pulse_count > MANY_SCAN_PULSES ? [`A scanner fires ${pulse_count} pulses: its cloud is large.`] : [];

const LABEL = "Ray-tracing scene";

async function traced(
  trace: () => Promise<native.SyntheticScan>,
  i: number,
  count: number,
  job: Job,
): Promise<native.SyntheticScan> {
  if (count === 1) return owned(await job.whileWaiting(LABEL, trace), job);
  const at = 0.15 + (0.7 * i) / count;
  job.stage(`${LABEL} (scan ${i + 1}/${count})`, at, at);
  return owned(await trace(), job);
}

/** The run owns the columns. */
function owned(scan: native.SyntheticScan, job: Job): native.SyntheticScan {
  const { warnings: _, ...columns } = scan;
  for (const value of Object.values(columns)) {
    if (typeof value === "object" && value !== null) refs.set(value, job.adopt(new ColumnRef(value)));
  }
  return scan;
}
/** The reference that owns a column of a scan. */
const refs = new WeakMap<object, ColumnRef>();
const ref = (column: native.SyntheticScan["positions"]): ColumnRef => {
  const found = refs.get(column);
  if (!found) throw new AppError("internal", "a column of a scan that no run owns");
  return found;
};

interface ScannerPart {
  readonly cloud: ScannedCloud;
  readonly rows: ScanRows;
  readonly sent: SentColumns;
  readonly warnings: readonly string[];
}

/** Fields of a scan by their names in the contract. */
function fieldsOf(scan: native.SyntheticScan, asked: readonly string[]) {
  const standard = new Map([
    ["intensity", scan.intensity],
    ["distance", scan.distance],
    ["timestamp", scan.time],
    ["target_index", scan.target_index],
    ["target_count", scan.target_count],
  ]);
  const computed = { deviation: scan.deviation, nRaysHit: scan.ray_count, organ: scan.organ };
  const extra = new Map<string, native.SyntheticScan["positions"]>();
  const absent: string[] = [];
  for (const name of new Set(asked)) {
    if (standard.has(name)) continue;
    const column = Object.hasOwn(computed, name) ? computed[name as keyof typeof computed] : null;
    if (column) extra.set(name, column);
    else absent.push(name);
  }
  return { standard, extra, absent };
}

/** The columns of a scan that are sent, by their names in the frame, positions first. */
interface SentColumns {
  readonly columns: ReadonlyMap<string, native.SyntheticScan["positions"]>;
  readonly is_miss: native.SyntheticScan["positions"];
  readonly has_misses: boolean;
}

/** Adds the hits of a scan to the buffers of a frame. Returns the largest number of a position. */
async function frameBuffers(prefix: string, sent: SentColumns, to: Record<string, Buffers[string]>, job: Job) {
  let far = 0;
  for (const [name, column] of sent.columns) {
    if (column.dtype === "f32" && !sent.has_misses) {
      to[prefix + name] = { dtype: "f32", length: column.length, data: ref(column) };
      continue;
    }
    const { values, largest } = await job.track(() => native.hitFloats(column, sent.is_miss));
    const data = job.adopt(new ColumnRef(values));
    to[prefix + name] = { dtype: "f32", length: data.length, data };
    if (name === "points") far = largest;
  }
  return far;
}

function extracted(
  scanner: Scanner,
  scan: native.SyntheticScan,
  { extra_fields, retained_standard_fields }: LidarScanRequest,
): ScannerPart {
  const { standard, extra, absent } = fieldsOf(scan, extra_fields);
  const fields = [...standard, ...extra];
  const columns = new Map([["points", scan.positions]]);
  if (scan.color) columns.set("colors", scan.color);
  for (const [j, [, column]] of fields.entries()) columns.set(`scalar${j}`, column);
  const retained = new Set(retained_standard_fields ?? STANDARD_SCAN_FIELDS);
  const first = scan.beam_origin ?? null;
  return {
    cloud: {
      scanner_id: scanner.id,
      num_points: scan.hit_count,
      has_colors: scan.color !== null,
      scalar_fields: fields.map(([name]) => name),
    },
    rows: {
      positions: ref(scan.positions),
      is_miss: ref(scan.is_miss),
      intensity: ref(scan.intensity_16),
      timestamps: ref(scan.time),
      colors: scan.color && ref(scan.color),
      beam_origins: first && ref(first),
      extras: new Map([
        ["distance", ref(scan.distance)],
        ["target_index", ref(scan.target_index)],
        ["target_count", ref(scan.target_count)],
        ...[...extra].map(([name, column]) => [name, ref(column)] as const),
        ...(scan.pulse ? [["pulse_id", ref(scan.pulse)] as const] : []),
      ]),
      hidden: new Set(STANDARD_SCAN_FIELDS.filter((name) => !retained.has(name))),
      miss_count: scan.miss_count,
      scan_origin: first ? firstTriple(first) : scanner.origin,
    },
    sent: { columns, is_miss: scan.is_miss, has_misses: scan.miss_count > 0 },
    warnings: [
      ...doubtfulScanner(scanner, scan.hit_count),
      ...(absent.length > 0 && scan.hit_count > 0
        ? [`No hit of scanner "${scanner.id.slice(0, 60)}" has these extra_fields: ${absent.join(", ").slice(0, 300)}.`]
        : []),
    ],
  };
}

function firstTriple(column: native.SyntheticScan["positions"]): [number, number, number] {
  const out = new Float64Array(3);
  column.readInto(new Uint8Array(out.buffer), 0);
  return [out[0] ?? 0, out[1] ?? 0, out[2] ?? 0];
}
