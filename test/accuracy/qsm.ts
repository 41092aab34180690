// Cylinder models against trees whose cylinders are known, and beside those of TreeQSM; every real tree and the worst one
// of each other group as a picture in the folder of APP_ACCURACY_PICTURES, if it is set.
import { Job } from "../../backend/jobs/job.ts";
import { QsmRecords, releaseQsm } from "../../backend/native/qsm.ts";
import { buildQsm } from "../../backend/native/qsm-build.ts";
import type { QsmCylinder } from "../../shared/contract/qsm-records.ts";
import { positions } from "./native.ts";
import type { Part } from "./part.ts";
import { drawTree } from "./qsm-picture.ts";
import { SCAN_TWIG_MM, type ScanGroupName, scannedTrees } from "./qsm-scans.ts";
import { structureScores } from "./qsm-structure.ts";
import {
  CLASSES,
  contractTable,
  GROUPS,
  type Group,
  knownTable,
  METHODS,
  type Method,
  type QsmRow,
  realTable,
  type Totals,
  targetLines,
} from "./qsm-tables.ts";
import {
  handKnownTrees,
  type KnownTree,
  labelledTrees,
  PLOTS,
  plotTrees,
  realTrees,
  thickestAxis,
} from "./qsm-trees.ts";

/** The thinnest wood of each group, radius; the service's own default for the real trees and `scans_4.23`; 0: as thin as
 *  each tree's own. */
const TWIG_MM: Readonly<Record<Group, number>> = {
  open_11: 7,
  slope20_13: 7,
  dense_12: 7,
  hand: 5,
  scans: SCAN_TWIG_MM,
  "scans_4.23": 4.23,
  scans_9: SCAN_TWIG_MM,
  scans_1: SCAN_TWIG_MM,
  own: 0,
  leafy: SCAN_TWIG_MM,
  real: 4.23,
};

interface Piece {
  readonly start: readonly number[];
  readonly end: readonly number[];
  readonly radius: number;
  readonly stem: boolean;
}
/** Radius of the tree's thinnest wood, mm: a hundredth of its length is thinner. */
function thinnestOf({ truth }: KnownTree): number {
  const pieces = [...(truth ?? [])].sort((a, b) => a.radius - b.radius).map((p) => [p.radius, lengthOf(p)] as const);
  let left = 0.01 * pieces.reduce((sum, [, length]) => sum + length, 0);
  for (const [radius, length] of pieces) {
    left -= length;
    if (left <= 0) return 1000 * radius;
  }
  throw new Error("a tree without wood");
}

const lengthOf = ({ start, end }: Piece) => Math.hypot(...start.map((v, i) => (end[i] ?? 0) - v));

function totalsOf(pieces: readonly Piece[]): Totals {
  const by_class_m3 = CLASSES.map(() => 0);
  let [volume_m3, stem_m3, length_m] = [0, 0, 0];
  for (const piece of pieces) {
    const length = lengthOf(piece);
    const volume = Math.PI * piece.radius ** 2 * length;
    volume_m3 += volume;
    length_m += length;
    if (piece.stem) stem_m3 += volume;
    const at = CLASSES.findIndex((most) => piece.radius < most);
    by_class_m3[at] = (by_class_m3[at] ?? 0) + volume;
  }
  return { volume_m3, stem_m3, length_m, by_class_m3 };
}

/** Diameter of the stem at a height above the lowest end, between the middles of its cylinders; NaN without one. */
function diameterAt(cylinders: readonly QsmCylinder[], height_m: number): number {
  const base = Math.min(...cylinders.map((c) => Math.min(c.start[2], c.end[2])));
  let [below, above] = [
    { z: Number.NEGATIVE_INFINITY, diameter: Number.NaN },
    { z: Number.POSITIVE_INFINITY, diameter: Number.NaN },
  ];
  for (const c of cylinders) {
    const one = { z: (c.start[2] + c.end[2]) / 2 - base - height_m, diameter: 2 * c.radius };
    if (c.rank !== 0) continue;
    if (one.z <= 0 && one.z > below.z) below = one;
    if (one.z > 0 && one.z < above.z) above = one;
  }
  if (Number.isNaN(below.diameter)) return above.diameter;
  if (Number.isNaN(above.diameter)) return below.diameter;
  return below.diameter + ((above.diameter - below.diameter) * below.z) / (below.z - above.z);
}

async function build(tree: KnownTree, method: Method, twig_radius_mm: number) {
  const built = await new Job().track(() =>
    buildQsm(positions(tree.xyz), null, {
      twig_radius_mm,
      axis_termination: true,
      fork_symmetry: 0.75,
      w_growthlength: 1,
      w_area: 0,
      w_colinear: 0,
      radius_model: method,
    }),
  );
  const records = await QsmRecords.read(built.qsm);
  const cylinders = Array.from({ length: records.cylinderCount }, (_, i) => records.cylinder(i));
  releaseQsm(built.qsm);
  return { built, cylinders };
}

async function rowOf(group: Group, method: Method, tree: KnownTree): Promise<QsmRow & { draw: () => void }> {
  const { built, cylinders } = await build(tree, method, TWIG_MM[group] || thinnestOf(tree));
  const axis = thickestAxis(
    cylinders.map(({ cyl_id, parent_id, radius }) => ({ id: cyl_id, parent: parent_id, radius })),
  );
  const heights = cylinders.flatMap((c) => [c.start[2], c.end[2]]);
  return {
    group,
    method,
    tree: tree.name,
    points: tree.xyz.length / 3,
    found: totalsOf(cylinders.map((c) => ({ ...c, stem: axis.has(c.cyl_id) }))),
    interval_m3: built.total_volume_ci95_m3,
    truth: tree.truth && totalsOf(tree.truth),
    structure: tree.pieces && structureScores(tree.pieces, cylinders),
    theirs: tree.theirs,
    dbh_m: diameterAt(cylinders, 1.3),
    diameter: tree.diameter,
    diameter_found_m: tree.diameter ? diameterAt(cylinders, tree.diameter.height_m) : Number.NaN,
    height_m: Math.max(...heights) - Math.min(...heights),
    draw: () => drawTree(`${group}-${method}-${tree.name}`, tree, cylinders),
  };
}

function treesOf(group: Group): Iterable<KnownTree> | AsyncIterable<KnownTree> {
  if (group === "real") return [...realTrees(), ...labelledTrees()];
  if (group === "hand") return handKnownTrees();
  const plot = PLOTS.find((name) => name === group);
  return plot ? plotTrees(plot) : scannedTrees(group as ScanGroupName);
}

export const qsmPart: Part<QsmRow> = {
  methods: METHODS,
  groups: GROUPS,
  async measure(methods, groups) {
    const rows: QsmRow[] = [];
    for (const group of GROUPS.filter((name) => groups.includes(name)))
      for (const method of METHODS.filter((name) => methods.includes(name))) {
        let worst: { readonly off: number; readonly draw: () => void } | null = null;
        for await (const tree of treesOf(group)) {
          const { draw, ...row } = await rowOf(group, method, tree);
          if (group === "real") draw();
          const off = row.truth ? Math.abs(Math.log(row.found.volume_m3 / row.truth.volume_m3)) : 0;
          if (!worst || off > worst.off) worst = { off, draw };
          rows.push(row);
        }
        if (group !== "real") worst?.draw();
      }
    return rows;
  },
  tables: (rows) => `${knownTable(rows)}\n\n${contractTable(rows)}\n\n${realTable(rows)}\n`,
  targets: targetLines,
};
