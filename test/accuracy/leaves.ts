// Leaves on models of trees: divergence angles of planted patterns, geometry against closed forms, and angles of turned
// leaves against their targets.

import { angleRows } from "./leaves-angles.ts";
import { linearAssignmentCase } from "./leaves-assignment.ts";
import { geometryRows } from "./leaves-geometry.ts";
import { phyllotaxisRows } from "./leaves-phyllotaxis.ts";
import type { Part } from "./part.ts";

const GROUPS = ["phyllotaxis", "geometry", "angles", "assignment"] as const;
type Group = (typeof GROUPS)[number];

/** A figure, its target, and whether it is reached. */
export interface LeafRow {
  readonly group: Group;
  readonly what: string;
  readonly figure: string;
  readonly target: string;
  readonly reached: boolean;
}

const MEASURES: Readonly<Record<Group, () => Promise<readonly LeafRow[]>>> = {
  phyllotaxis: phyllotaxisRows,
  geometry: geometryRows,
  angles: angleRows,
  assignment: linearAssignmentCase,
};

export const leavesPart: Part<LeafRow> = {
  methods: ["leaves"],
  groups: GROUPS,
  async measure(_, groups) {
    const rows: LeafRow[] = [];
    for (const group of GROUPS) if (groups.includes(group)) rows.push(...(await MEASURES[group]()));
    return rows;
  },
  tables: (rows) =>
    GROUPS.flatMap((group) => {
      const own = rows.filter((row) => row.group === group);
      if (own.length === 0) return [];
      const lines = own.map(
        ({ what, figure, target, reached }) => `| ${what} | ${figure} | ${target} | ${reached ? "yes" : "no"} |`,
      );
      return [`### ${group}\n\n| what | measured | target | reached |\n|---|---|---|---|\n${lines.join("\n")}\n`];
    }).join("\n"),
  targets: (rows) => `${rows.filter(({ reached }) => reached).length} of ${rows.length} targets reached`,
};
