import type { Client } from "../../../shared/client/index.ts";
import type { CreateSessionTail } from "../../../shared/contract/cloud-session/create.ts";
import { AppError } from "../../../shared/errors.ts";
import { UP_AXES, type UpAxis, uprightMatrix } from "../../../shared/up-axes.ts";

type Scan = NonNullable<CreateSessionTail["scans"]>[number];

/** Errors: invalid_argument. */
export function parseUp(text: string): UpAxis {
  if (!Object.hasOwn(UP_AXES, text))
    throw new AppError("invalid_argument", `--up "${text}" is not one of ${Object.keys(UP_AXES).join(", ")}`);
  return text as UpAxis;
}

/** Turns a cloud that was read about the origin of its file, so that `up` becomes z. */
export async function turnedUp(
  tail: CreateSessionTail,
  up: UpAxis | undefined,
  client: Pick<Client, "transform">,
  signal: AbortSignal,
): Promise<CreateSessionTail> {
  if (up === undefined || up === "z" || tail.point_count === 0) return tail;
  const moved = await client.transform(tail.session_id, { matrix: uprightMatrix(up) }, { signal });
  const { octree_posed: _, warnings = [], ...octree } = moved;
  const { scan_origin, scan_params, scans, ...rest } = tail;
  const box = moved.robust_bounds;
  return {
    ...rest,
    ...octree,
    ground_z: null, // measured along the former axis
    robust_extent: box ? [box.max[0] - box.min[0], box.max[1] - box.min[1], box.max[2] - box.min[2]] : null,
    ...(scan_origin ? { scan_origin: turned(scan_origin, up) } : {}),
    ...(scan_params?.origin ? { scan_params: { origin: turned(scan_params.origin, up) } } : {}),
    ...(scans ? { scans: scans.map((scan) => turnedScan(scan, up)) } : {}),
    warnings: [...(tail.warnings ?? []), ...warnings],
  };
}

/** Its angles are those of the former axes. */
const turnedScan = (scan: Scan, up: UpAxis): Scan => ({
  ...scan,
  origin: scan.origin && turned(scan.origin, up),
  ...{ theta_min: null, theta_max: null, phi_min: null, phi_max: null },
});

function turned(place: readonly number[], up: UpAxis): [number, number, number] {
  const turn = UP_AXES[up];
  const along = (row: number) => [0, 1, 2].reduce((sum, k) => sum + (turn[3 * row + k] ?? 0) * (place[k] ?? 0), 0);
  return [along(0), along(1), along(2)];
}
