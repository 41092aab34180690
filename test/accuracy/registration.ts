// Registrations of pairs whose motion is known, from 15 small and 15 medium starts each, and from 20 large ones with
// `initial` auto: success and errors, beside the best that other programs reach (geometry_reference/registration of the
// test data).
import { existsSync } from "node:fs";
import type { IcpMethod } from "../../backend/native/registration.ts";
import type { Part } from "./part.ts";
import { hasPcl, pclPoses } from "./pcl.ts";
import { centroid, errorsOf } from "./pose-errors.ts";
import { bestStored, cloudOf, PAIRS, REFERENCE, startsOf } from "./registration-pairs.ts";
import { type CheckedPose, isNamed, register, searched } from "./registration-runs.ts";

/** gicp from a start that is searched. */
const SEARCH = "auto";
/** gicp from the large starts themselves: most end in wrong poses, which warnings have to name. */
const ASTRAY = "astray";
/** The Point Cloud Library, in two stages as the stored programs. */
const PEERS = { pcl_plane: "plane", pcl_gicp: "gicp" } as const;
const isPeer = (method: string): method is keyof typeof PEERS => method in PEERS;
const METHODS = ["gicp", "point_to_plane", "point_to_point", SEARCH, ASTRAY, "pcl_plane", "pcl_gicp"] as const;
const LOCAL = ["small", "medium"] as const;
const bandsOf = (method: string): readonly string[] => (method === SEARCH || method === ASTRAY ? ["large"] : LOCAL);
interface Row {
  readonly pair: string;
  readonly method: string;
  readonly unit: string;
  readonly small: number;
  readonly medium: number;
  readonly large: number;
  /** Runs whose pose a warning calls ambiguous, or not found. */
  readonly doubted: number;
  /** Right poses that are called wrong. */
  readonly alarms: number;
  readonly wrong: number;
  /** Of the wrong ones, those that are called so. */
  readonly named: number;
  /** Agreement of the surfaces: least of the right poses, most of the wrong ones. */
  readonly least_right: number;
  readonly most_wrong: number;
  /** Medians over the successes; length: of the centroid of the source. */
  readonly degrees: number;
  readonly length: number;
  readonly conditioning: number;
  readonly seconds: number;
}

const median = (values: readonly number[]) => [...values].sort((a, b) => a - b)[values.length >> 1] ?? Number.NaN;

/** Starts that the library takes too, and how exactly. */
function peerRow(pair: string, method: keyof typeof PEERS): Row {
  const reference = startsOf(pair);
  const [target, source] = [cloudOf(pair, "target"), cloudOf(pair, "source")];
  const center = centroid(source);
  const extent = reference.robust_diagonal_of_target;
  const starts = reference.starts.filter(({ band }) => bandsOf(method).includes(band));
  const began = performance.now();
  const poses = pclPoses(
    PEERS[method],
    { target, source, extent },
    starts.map(({ T_row_major }) => T_row_major),
  );
  const seconds = (performance.now() - began) / 1000 / starts.length;
  const good = poses.flatMap((pose, i) => {
    const { degrees, length } = errorsOf(pose, reference.T_target_source_truth_row_major, center);
    return degrees < 1 && length < 0.01 * extent ? [{ degrees, length, band: starts[i]?.band }] : [];
  });
  const none = Number.NaN;
  return {
    pair,
    method,
    unit: reference.unit,
    small: good.filter(({ band }) => band === "small").length,
    medium: good.filter(({ band }) => band === "medium").length,
    ...{ large: 0, doubted: 0, alarms: 0, wrong: 0, named: 0 },
    ...{ least_right: none, most_wrong: none, conditioning: none },
    degrees: median(good.map((one) => one.degrees)),
    length: median(good.map((one) => one.length)),
    seconds,
  };
}

async function rowOf(pair: string, method: string): Promise<Row> {
  const reference = startsOf(pair);
  const sides = [cloudOf(pair, "target"), cloudOf(pair, "source")] as const;
  const center = centroid(sides[1]);
  const good: { degrees: number; length: number; conditioning: number; band: string }[] = [];
  const before = process.cpuUsage();
  const starts = reference.starts.filter(({ band }) => bandsOf(method).includes(band));
  let doubted = 0;
  const right: CheckedPose[] = [];
  const wrong: CheckedPose[] = [];
  for (const { band, T_row_major } of starts) {
    const local = method === ASTRAY ? "gicp" : (method as IcpMethod);
    const pose = await (method === SEARCH ? searched(sides, T_row_major) : register(sides, local, T_row_major));
    const { matrix, conditioning, global_alignment } = pose;
    if (global_alignment && global_alignment.outcome !== "found") doubted += 1;
    const { degrees, length } = errorsOf(matrix, reference.T_target_source_truth_row_major, center);
    const succeeds = degrees < 1 && length < 0.01 * reference.robust_diagonal_of_target;
    if (succeeds) good.push({ degrees, length, conditioning, band });
    (succeeds ? right : wrong).push(pose);
  }
  const { user, system } = process.cpuUsage(before);
  return {
    pair,
    method,
    unit: reference.unit,
    small: good.filter(({ band }) => band === "small").length,
    medium: good.filter(({ band }) => band === "medium").length,
    large: good.filter(({ band }) => band === "large").length,
    doubted,
    alarms: right.filter(isNamed).length,
    wrong: wrong.length,
    named: wrong.filter(isNamed).length,
    least_right: Math.min(...right.map(({ surface_agreement }) => surface_agreement)),
    most_wrong: Math.max(...wrong.map(({ surface_agreement }) => surface_agreement)),
    degrees: median(good.map((one) => one.degrees)),
    length: median(good.map((one) => one.length)),
    conditioning: median(good.map((one) => one.conditioning)),
    seconds: ((user + system) * 1e-6) / starts.length,
  };
}

const fixed = (value: number, digits: number) => (Number.isNaN(value) ? "" : value.toFixed(digits));

export const registrationPart: Part<Row> = {
  methods: METHODS,
  groups: PAIRS,
  async measure(methods, groups) {
    const rows: Row[] = [];
    if (!existsSync(REFERENCE)) {
      console.error(`no pairs at ${REFERENCE}: set APP_TEST_DATA`);
      return rows;
    }
    const peers = methods.some(isPeer) && hasPcl();
    if (methods.some(isPeer) && !peers) console.error("pcl_plane and pcl_gicp left out: libpcl-dev is not installed");
    for (const pair of groups) {
      for (const method of methods) {
        if (!isPeer(method)) rows.push(await rowOf(pair, method));
        else if (peers) rows.push(peerRow(pair, method));
      }
    }
    return rows;
  },
  tables(rows) {
    const lines = [
      "| pair | method | small | medium | large | doubted | median error: degrees, length | unit | conditioning | right poses called wrong, least agreement | wrong poses called so, most agreement | CPU s |",
      "|---|---|---|---|---|---|---|---|---|---|---|---|",
    ];
    for (const pair of new Set(rows.map((row) => row.pair))) {
      const own = rows.filter((one) => one.pair === pair);
      for (const row of own) {
        const errors = `${fixed(row.degrees, 4)}, ${fixed(row.length, 5)}`;
        const counts =
          row.method === SEARCH || row.method === ASTRAY
            ? `| | ${row.large}/20 | ${row.doubted}`
            : `${row.small}/15 | ${row.medium}/15 | |`;
        const told = (named: number, of: number, agreement: number) =>
          of === 0 ? "" : `${named} of ${of}, ${agreement.toFixed(2)}`;
        const right = row.small + row.medium + row.large;
        const judged = isPeer(row.method)
          ? " | "
          : `${told(row.alarms, right, row.least_right)} | ${told(row.named, row.wrong, row.most_wrong)}`;
        lines.push(
          `| ${pair} | ${row.method} | ${counts} | ${errors} | ${row.unit} | ${Number.isNaN(row.conditioning) ? "" : row.conditioning.toExponential(1)} | ${judged} | ${fixed(row.seconds, 2)} |`,
        );
      }
      for (const bands of own.some(({ method }) => method === SEARCH) ? [LOCAL, ["large"]] : [LOCAL]) {
        const best = bestStored(pair, bands);
        const errors = `${fixed(best.median_rot_err_deg_of_success ?? Number.NaN, 4)}, ${fixed(best.median_trans_err_of_success ?? Number.NaN, 5)}`;
        const counts = bands === LOCAL ? `${best.successes}/30 | | |` : `| | ${best.successes}/20 |`;
        lines.push(`| ${pair} | best other: ${best.method} | ${counts} | ${errors} | | | | | |`);
      }
    }
    return lines.join("\n");
  },
  targets(all) {
    const rows = all.filter(({ method }) => !isPeer(method));
    const worseThan = (bands: readonly string[]) => (row: Row) =>
      row.length > (bestStored(row.pair, bands).median_trans_err_of_success ?? Number.POSITIVE_INFINITY);
    const told = (name: string, missed: readonly Row[]) =>
      `${name}: ${missed.length === 0 ? "reached" : `missed on ${missed.map(({ pair }) => pair).join(", ")}`}`;
    const gicp = rows.filter(({ method }) => method === "gicp");
    const search = rows.filter(({ method }) => method === SEARCH);
    const alarms = rows.filter((row) => row.alarms > 0);
    const unnamed = rows.filter((row) => row.named < row.wrong);
    const lines: string[] = [
      told("no right pose is called wrong", alarms),
      told("every wrong pose is called so", unnamed),
    ];
    if (gicp.length > 0) {
      const few = gicp.filter(({ small, medium }) => small + medium < 30);
      lines.push(told("30 of 30 small and medium starts on every pair (gicp)", few));
      lines.push(told("error of the centroid at most that of the best other program", gicp.filter(worseThan(LOCAL))));
    }
    if (search.length > 0) {
      const few = search.filter(({ large }) => large < 19);
      lines.push(told("19 of 20 large starts on every pair (auto)", few));
      const worse = search.filter(worseThan(["large"]));
      lines.push(told("error of the centroid at most that of the best other program from large starts", worse));
    }
    return `\n${lines.join("\n")}`;
  },
};
