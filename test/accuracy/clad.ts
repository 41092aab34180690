// Trees whose stem is not bare at breast height (clad-trees.ts), and trees on steep slopes, scanned from tripods, through the
// service: which diameters are those of the stem, and whether those that are not are told.
import type { Client } from "../../shared/client/index.ts";
import type { TreeRow } from "../../shared/contract/cloud-session/tree-inventory-rows.ts";
import { withService } from "./backend.ts";
import { CLAD, type CladTree, growClad } from "./clad-trees.ts";
import type { Part } from "./part.ts";

const ACROSS = 3;
const TRIPOD_M = 1.7;
/** A found tree whose place is farther from a stem is not of it, metres. */
const REACH_M = 0.5;
/** Diameters farther from the true one, relative to it, are wrong. */
const WRONG = 0.1;

interface Scans {
  readonly name: string;
  /** Tripods along each side, but one. */
  readonly across: number;
  readonly noise_m: number;
}
const FULL: Scans = { name: "16 tripods", across: 3, noise_m: 0.003 };
const FEW: Scans = { name: "4 tripods", across: 1, noise_m: 0.003 };
const NOISY: Scans = { name: "16 tripods, 10 mm", across: 3, noise_m: 0.01 };

export interface CladRow {
  readonly kind: string;
  readonly scans: string;
  readonly trees: number;
  readonly found: number;
  readonly measured: number;
  /** Of the diameters that are not wrong, relative to the true one: root mean square. */
  readonly rms: number;
  readonly wrong: number;
  readonly wrong_told: number;
  readonly covered: number;
  readonly no_crown: number;
  readonly warnings: readonly string[];
}

function scanners(side_m: number, slope: number, { across, noise_m }: Scans) {
  const at = Array.from({ length: across + 1 }, (_, k) => (k / across - 0.5) * side_m);
  return at.flatMap((x) =>
    at.map((y) => ({
      ...{ id: `${x.toFixed(1)} ${y.toFixed(1)}`, origin: [x, y, TRIPOD_M + slope * x] as [number, number, number] },
      ...{ n_theta: 900, n_phi: 1800, theta_min_deg: 5, theta_max_deg: 150, phi_min_deg: 0, phi_max_deg: 359.8 },
      range_noise_m: noise_m,
    })),
  );
}

/** Whether a diameter is told to be doubtful: by its flags, or by a warning, which names five trees at most. */
const isTold = ({ flags }: TreeRow, warnings: readonly string[]): boolean =>
  flags.includes("few_points") ||
  warnings.some((text) => /may be those of leaves|have the same diameter|leaves, as of ivy, cover/.test(text));

async function rowOf(kind: string, scans: Scans, client: Client): Promise<CladRow> {
  const stand = growClad(kind, ACROSS);
  const { meta } = await client.lidarScan({
    ...{ meshes: stand.meshes[0] as never, scanners: scanners(stand.side_m, stand.slope, scans) as never },
    ...{ record_misses: false, seed: 3, pulse_distance_threshold: 0.2, rays_per_pulse: 1 },
  });
  const ids = meta.scanners.flatMap(({ session }) => session?.session_id ?? []);
  const { session_id } = (await client.merge({ session_ids: ids })).merged;
  for (const id of ids) await client.closeSession(id);
  await client.segmentGroundSession(session_id, {});
  const terrain = await client.sessionDem(session_id, {
    ...{ surface_type: "dtm", cell_size: 0.25, add_height_column: true },
  });
  await client.segmentTreesSession(session_id, { method: "auto" });
  const list = await client.treeInventory(session_id, {});
  await client.closeSession(session_id);
  const away = ({ stem_base: [x = 1e9, y = 0] = [] as never }: TreeRow, tree: CladTree) =>
    Math.hypot(x - tree.x, y - tree.y);
  const pairs = stand.trees.flatMap((tree) => {
    const near = list.trees.filter((row) => row.dbh_m && away(row, tree) < REACH_M);
    const row = near.toSorted((a, b) => away(a, tree) - away(b, tree))[0];
    return row?.dbh_m ? [{ row, off: row.dbh_m / tree.dbh_m - 1 }] : [];
  });
  const right = pairs.filter(({ off }) => Math.abs(off) < WRONG);
  const wrong = pairs.filter(({ off }) => Math.abs(off) >= WRONG);
  const flagged = (flag: string) => list.trees.filter(({ flags }) => flags.includes(flag as never)).length;
  return {
    ...{ kind, scans: scans.name, trees: stand.trees.length, found: list.trees.length, measured: pairs.length },
    rms: Math.sqrt(right.reduce((sum, { off }) => sum + off * off, 0) / right.length),
    ...{ wrong: wrong.length, wrong_told: wrong.filter(({ row }) => isTold(row, list.warnings)).length },
    ...{ covered: flagged("covered"), no_crown: flagged("no_crown") },
    warnings: [...((terrain as { warnings?: readonly string[] }).warnings ?? []), ...list.warnings],
  };
}

const percent = (value: number) => (Number.isFinite(value) ? `${(100 * value).toFixed(1)} %` : "-");
function scansOf(kind: string): readonly Scans[] {
  if (kind.startsWith("ivy")) return [FULL, FEW, NOISY];
  return kind.startsWith("limbs") ? [FULL, FEW] : [FULL];
}

/** Part `clad` of `npm run accuracy`. */
export const cladPart: Part<CladRow> = {
  methods: ["auto"],
  groups: Object.keys(CLAD),
  measure: (_methods, groups) =>
    withService("clad", async (client) => {
      const rows: CladRow[] = [];
      for (const kind of groups) for (const scans of scansOf(kind)) rows.push(await rowOf(kind, scans, client));
      return rows;
    }),
  tables: (rows) =>
    [
      "| trees | scans | number | found | with a diameter | wrong by a tenth or more | of these told | RMS of the others | covered | no_crown |",
      `|${"---|".repeat(10)}`,
      ...rows.map(
        (row) =>
          `| ${row.kind} | ${row.scans} | ${row.trees} | ${row.found} | ${row.measured} | ${row.wrong} | ${row.wrong_told} | ${percent(row.rms)} | ${row.covered} | ${row.no_crown} |`,
      ),
      ...rows.flatMap(({ kind, scans, warnings }) => warnings.map((text) => `- ${kind}, ${scans}: ${text}`)),
    ].join("\n"),
  targets: (rows) => {
    const ivy = rows.filter(({ kind, scans }) => kind.startsWith("ivy") && scans === FULL.name && kind !== "ivy_full");
    const reached = ivy.every(({ trees, measured, wrong }) => measured >= trees - 1 && wrong === 0);
    const untold = rows.reduce((sum, { wrong, wrong_told }) => sum + wrong - wrong_told, 0);
    return `ivy through which bark is seen, from sixteen tripods: diameters of the stem ${reached ? "reached" : "missed"}; wrong diameters that are not told: ${untold}`;
  },
};
