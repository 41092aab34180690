import { basename } from "node:path";
import proj4 from "proj4";
import type { TrajectoryParseRequest, TrajectoryParseResponse } from "../../../shared/contract/trajectory.ts";
import { AppError } from "../../../shared/errors.ts";
import type { Job } from "../../jobs/job.ts";
import { errorText } from "../../jobs/native-error.ts";
import { extensionOf, sourceFile } from "../files/source.ts";
import { readSbet, type Sbet, type SbetRecord, worstPositionError } from "./sbet.ts";

type Pose = TrajectoryParseResponse["poses"][number];

const DEGREES = 180 / Math.PI;
const SBET_FORMATS: ReadonlySet<string> = new Set(["sbet", "out"]);
/** UTM is defined up to this latitude; beyond a zone's width its scale error grows. */
const UTM_LATITUDE_DEG = 84;
const WIDE_DEG = 3;
const WEEK_S = 604_800;
/** A smaller angle between grid north and true north is not told. */
const LEAST_CONVERGENCE_DEG = 0.1;

/**
 * The poses of a trajectory file in UTM coordinates and ellipsoid heights; attitudes count from true north, not from that of
 * the grid. Errors: not_found; invalid_argument for another
 * format; invalid_file.
 */
export async function parseTrajectory(request: TrajectoryParseRequest, job: Job): Promise<TrajectoryParseResponse> {
  const path = await sourceFile(request.path);
  checkFormat(request.format ?? extensionOf(path).slice(1));
  const sbet = await readSbet(path, basename(path), request.target_poses, job);
  const zone = zoneOf(sbet);
  const poses = projected(sbet.kept, zone);
  const warnings = [...sbetWarnings(sbet), ...convergenceWarnings(sbet.kept, zone), ...timeWarnings(sbet.kept)];
  if (request.smrmsg_path) warnings.push(await accuracy(request.smrmsg_path, job));
  return {
    poses,
    frame: {
      crs: `EPSG:${(zone.is_south ? 32700 : 32600) + zone.number}`,
      up_axis: "z",
      body_convention: "FRD",
      time_ref: "gps",
    },
    lever_arm: [0, 0, 0],
    boresight_rpy: [0, 0, 0],
    source_format: "sbet",
    warnings,
  };
}

function checkFormat(format: string): void {
  if (SBET_FORMATS.has(format.toLowerCase())) return;
  throw new AppError(
    "invalid_argument",
    `the trajectory format "${format.slice(0, 60)}" is not read here: only sbet and out are; text trajectories are read by the client`,
  );
}

interface Zone {
  readonly number: number;
  readonly is_south: boolean;
}

function zoneOf({ mean_latitude_rad, mean_longitude_rad }: Sbet): Zone {
  const turns = (mean_longitude_rad * DEGREES + 180) / 360;
  const longitude = (turns - Math.floor(turns)) * 360; // 0 to 360 from the 180th meridian
  const number = Math.min(60, Math.max(1, Math.floor(longitude / 6) + 1));
  return { number, is_south: mean_latitude_rad < 0 };
}

function projected(records: readonly SbetRecord[], zone: Zone): Pose[] {
  const utm = proj4(`+proj=utm +zone=${zone.number}${zone.is_south ? " +south" : ""} +datum=WGS84 +units=m +no_defs`);
  return records.map((record) => {
    const [x = Number.NaN, y = Number.NaN] = utm.forward([
      record.longitude_rad * DEGREES,
      record.latitude_rad * DEGREES,
    ]);
    if (!Number.isFinite(x) || !Number.isFinite(y)) {
      throw new AppError(
        "invalid_file",
        `longitude ${record.longitude_rad * DEGREES} and latitude ${record.latitude_rad * DEGREES} have no place in UTM zone ${zone.number}`,
      );
    }
    return { t: record.time_s, x, y, z: record.height_m, ...attitude(record) };
  });
}

type Quaternion = readonly [x: number, y: number, z: number, w: number];

/** a then b, as rotations: b a. */
const times = ([bx, by, bz, bw]: Quaternion, [ax, ay, az, aw]: Quaternion): Quaternion => [
  bw * ax + bx * aw + by * az - bz * ay,
  bw * ay - bx * az + by * aw + bz * ax,
  bw * az + bx * ay - by * ax + bz * aw,
  bw * aw - bx * ax - by * ay - bz * az,
];

/** From north, east, down to east, north, up: half a turn about the bisector of x and y. */
const NED_TO_ENU: Quaternion = [Math.SQRT1_2, Math.SQRT1_2, 0, 0];

/** The attitude of the body (forward, right, down) in the world: C Rz(heading) Ry(pitch) Rx(roll). */
function attitude({ roll_rad, pitch_rad, heading_rad }: SbetRecord): Pick<Pose, "qx" | "qy" | "qz" | "qw"> {
  const roll: Quaternion = [Math.sin(roll_rad / 2), 0, 0, Math.cos(roll_rad / 2)];
  const pitch: Quaternion = [0, Math.sin(pitch_rad / 2), 0, Math.cos(pitch_rad / 2)];
  const heading: Quaternion = [0, 0, Math.sin(heading_rad / 2), Math.cos(heading_rad / 2)];
  const [qx, qy, qz, qw] = times(NED_TO_ENU, times(heading, times(pitch, roll)));
  return { qx, qy, qz, qw };
}

function sbetWarnings({ mean_latitude_rad, longitude_span_rad, record_count, kept, stride }: Sbet): string[] {
  const warnings: string[] = [];
  const latitude = mean_latitude_rad * DEGREES;
  if (Math.abs(latitude) > UTM_LATITUDE_DEG) {
    warnings.push(`The mean latitude is ${latitude.toFixed(2)} degrees: UTM is defined up to ${UTM_LATITUDE_DEG}.`);
  }
  const span = longitude_span_rad * DEGREES;
  if (span > WIDE_DEG) {
    warnings.push(
      `The longitudes span ${span.toFixed(2)} degrees, more than ${WIDE_DEG}: far from the middle of the zone, UTM distances are too long.`,
    );
  }
  if (stride > 1) {
    warnings.push(`The trajectory was decimated: every ${stride}th of ${record_count} records, ${kept.length} poses.`);
  }
  return warnings;
}

/** Of the record where grid north and true north are furthest apart. */
function convergenceWarnings(records: readonly SbetRecord[], zone: Zone): string[] {
  let widest = 0;
  for (const record of records) {
    const here = convergence(record, zone);
    if (Math.abs(here) > Math.abs(widest)) widest = here;
  }
  const degrees = Math.abs(widest) * DEGREES;
  if (degrees <= LEAST_CONVERGENCE_DEG) return [];
  const off = (100 * Math.tan(Math.abs(widest))).toFixed(1);
  return [
    `The headings count from true north, and the north of the UTM grid lies ${degrees.toFixed(2)} degrees ${widest > 0 ? "east" : "west"} of true north (meridian convergence, the largest of the poses). The attitudes are not corrected for it: what is 100 m away lies ${off} m off. To correct them, ${widest > 0 ? "subtract it from" : "add it to"} the headings of the file.`,
  ];
}

/** Bearing of grid north, from true north to the east, radians. On the ellipsoid it differs by less than 0.001 degrees within a zone. */
function convergence({ latitude_rad, longitude_rad }: SbetRecord, zone: Zone): number {
  const middle_rad = (6 * zone.number - 183) / DEGREES;
  return Math.atan(Math.tan(longitude_rad - middle_rad) * Math.sin(latitude_rad));
}

function timeWarnings(records: readonly SbetRecord[]): string[] {
  const at = records.findIndex(({ time_s }, i) => i > 0 && !(time_s > (records[i - 1]?.time_s ?? 0)));
  if (at < 0) return [];
  const [before = 0, after = 0] = [records[at - 1]?.time_s, records[at]?.time_s];
  const week = Math.abs(before - after - WEEK_S) < 3600 ? ": a new GPS week begins there" : "";
  return [`The times do not strictly increase: ${after} s follows ${before} s at pose ${at}${week}.`];
}

/** A sentence about the accuracy file; one that cannot be read does not matter. */
async function accuracy(path: string, job: Job): Promise<string> {
  try {
    const worst = await worstPositionError(await sourceFile(path), job);
    return `Accuracy of the trajectory: the worst position error (RMS, three-dimensional) is ${worst.toFixed(3)} m.`;
  } catch (error) {
    job.checkpoint();
    return `The accuracy file was not used: ${errorText(error)}`;
  }
}
