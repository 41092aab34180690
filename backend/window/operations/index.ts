import { dem } from "./dem.ts";
import { denoise } from "./denoise.ts";
import { exportCloud } from "./export.ts";
import { ground } from "./ground.ts";
import { inventory } from "./inventory.ts";
import { lad } from "./lad.ts";
import { misses } from "./misses.ts";
import type { Operation } from "./operation.ts";
import { canopy, plant } from "./plant.ts";
import { open, save } from "./project.ts";
import { qsm } from "./qsm.ts";
import { scan } from "./scan.ts";
import { stems } from "./stems.ts";
import { trees } from "./trees.ts";
import { wood } from "./wood.ts";

/** All operations in the order of the panel, which is that of a usual day. */
export const OPERATIONS: readonly Operation[] = [
  denoise,
  ground,
  dem,
  trees,
  stems,
  inventory,
  wood,
  qsm,
  misses,
  lad,
  plant,
  canopy,
  scan,
  exportCloud,
  save,
  open,
];
