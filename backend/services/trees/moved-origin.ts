import type { AlignedScans } from "../../native/inventory.ts";
import type { CloudState } from "../../sessions/cloud-session.ts";
import type { Triple } from "../../sessions/column-names.ts";

type ScanOrigin = NonNullable<CloudState["meta"]["scan_origins"]>[number];

/** Position of a scanner, stored frame, moved like the points of its scan (mean over its time); `shift`: world_shift. */
export function movedOrigin(
  { scan_index, origin }: Pick<ScanOrigin, "scan_index" | "origin">,
  { scans, middle, lifts }: Pick<AlignedScans, "scans" | "middle" | "lifts">,
  shift: Triple | null,
): Triple {
  const move = scans.find((one) => one.scan_index === scan_index);
  const z = origin[2] - (lifts.find((one) => one.scan_index === scan_index)?.z_m ?? 0);
  if (!move) return [origin[0], origin[1], z];
  const [sx, sy] = shift ?? [0, 0, 0];
  const [dx, dy] = [origin[0] + sx - middle[0], origin[1] + sy - middle[1]];
  return [origin[0] + move.x_m - move.turn_rad * dy, origin[1] + move.y_m + move.turn_rad * dx, z];
}
