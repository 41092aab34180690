// Stems of generated stands, scanned from 1, 4 and 9 positions: which are found, and which are none.
import { detectStems } from "../../backend/native/stems.ts";
import { STANDS, type StandKind } from "./forest/layout.ts";
import { buildStand, EVERY, ORGAN, SIDE_M } from "./forest/stand.ts";
import { column, positions } from "./native.ts";
import { BAND, type KnownStem, stemPairs } from "./stem-pairs.ts";

const POSITIONS = [1, 4, 9] as const;
const SEED = Number(process.env.STAND_SEED ?? 1);
/** A found stem nearer to a true one than this is that one, metres. */
const MATCH_M = 0.3;
/** Stems that have to be found: from this diameter on, and with so much of their girth hit between 1 m and 2 m. */
const LEAST_DBH_M = 0.05;
const LEAST_ARC_DEG = 90;
/** Below this height a fork gives a tree two stems in the layer, metres. */
const FORK_M = 2;

export interface StandStemsRow {
  readonly kind: "stand";
  readonly stand: StandKind;
  readonly positions: number;
  /** Trees that have to be found, and those of them that were. */
  readonly wanted: number;
  readonly wanted_found: number;
  /** Found stems, and those that are no tree of any size. */
  readonly found: number;
  readonly wrong: number;
  /** Of the wanted ones that were found, metres. */
  readonly dbh_rmse: number;
  readonly cpu_s: number;
}

const groupOf = (stand: StandKind, count: number) => `${stand}_${count}`;
export const STAND_GROUPS = STANDS.flatMap((stand) => POSITIONS.map((count) => groupOf(stand, count)));

/** All stems at breast height; a forked one stands twice, because it may be found twice. */
function knownStems(trees: Awaited<ReturnType<typeof buildStand>>["trees"]) {
  return trees.flatMap((tree) => {
    const { dbh_m, dbh_place, fork_m } = tree;
    if (dbh_m === null || dbh_place === null) return [];
    const stem: KnownStem = { x: dbh_place[0], y: dbh_place[1], dbh_m };
    const is_wanted = dbh_m >= LEAST_DBH_M && tree.stem_arc_deg >= LEAST_ARC_DEG;
    const twin = fork_m !== null && fork_m < FORK_M ? [{ stem, is_wanted: false }] : [];
    return [{ stem, is_wanted }, ...twin];
  });
}

async function measured(kind: StandKind, count: number): Promise<StandStemsRow> {
  const { points, trees } = await buildStand({ kind, seed: SEED, positions: count, side: SIDE_M, every: EVERY });
  const labels = Uint8Array.from(points.organ, (organ) => (organ === ORGAN.ground ? 1 : 2));
  const columns = [positions(points.xyz), column("f32", points.height), column("u8", labels)] as const;
  const before = process.cpuUsage();
  const { stems } = await detectStems(columns[0], null, columns[1], columns[2], BAND).promise;
  const cpu_s = process.cpuUsage(before).user / 1e6;
  for (const one of columns) one.release();
  const known = knownStems(trees);
  const pairs = stemPairs(
    known.map(({ stem }) => stem),
    stems,
    MATCH_M,
  );
  const good = pairs.filter(({ tree }) => known[tree]?.is_wanted);
  const squares = good.map(
    ({ tree, stem }) => (2 * (stems[stem]?.radius_m ?? 0) - (known[tree]?.stem.dbh_m ?? 0)) ** 2,
  );
  return {
    kind: "stand",
    stand: kind,
    positions: count,
    wanted: known.filter(({ is_wanted }) => is_wanted).length,
    wanted_found: good.length,
    found: stems.length,
    wrong: stems.length - pairs.length,
    dbh_rmse: Math.sqrt(squares.reduce((sum, square) => sum + square, 0) / squares.length),
    cpu_s,
  };
}

export async function standStems(groups: readonly string[]): Promise<StandStemsRow[]> {
  const rows: StandStemsRow[] = [];
  for (const kind of STANDS)
    for (const count of POSITIONS) if (groups.includes(groupOf(kind, count))) rows.push(await measured(kind, count));
  return rows;
}

const completeness = ({ wanted, wanted_found }: StandStemsRow) => wanted_found / wanted;
const commission = ({ found, wrong }: StandStemsRow) => wrong / found;

export const standStemsTable = (rows: readonly StandStemsRow[]): string[] => [
  `Generated stands, exact ground: stems of at least 5 cm with ${LEAST_ARC_DEG} degrees of arc hit between 1 m and 2 m; a found stem is right within ${MATCH_M} m of any stem.`,
  "",
  "| stand | positions | stems | found | completeness | seeds | no stem | commission | DBH RMSE, mm | CPU s |",
  "|---|---|---|---|---|---|---|---|---|---|",
  ...rows.map(
    (row) =>
      `| ${row.stand} | ${row.positions} | ${row.wanted} | ${row.wanted_found} | ${completeness(row).toFixed(3)} | ${row.found} | ${row.wrong} | ${commission(row).toFixed(3)} | ${(1000 * row.dbh_rmse).toFixed(1)} | ${row.cpu_s.toFixed(2)} |`,
  ),
  "",
];

const COMPLETENESS = 0.98;
const COMMISSION = 0.02;

export const standStemsTargets = (rows: readonly StandStemsRow[]): string[] =>
  rows.map((row) => {
    const reached = completeness(row) >= COMPLETENESS && commission(row) <= COMMISSION;
    return `${reached ? "reached" : "MISSED"}: ${groupOf(row.stand, row.positions)} completeness ${COMPLETENESS} (${completeness(row).toFixed(3)}), commission ${COMMISSION} (${commission(row).toFixed(3)})`;
  });
