// Stems: those of other programs' forests, simulated ones, and those of generated stands.
import { REFERENCE_PLOTS } from "./inventory-data.ts";
import type { Part } from "./part.ts";
import {
  type ReferenceStemsRow,
  referenceStems,
  referenceStemsTable,
  referenceStemsTargets,
} from "./stems-reference.ts";
import { type SimulatedRow, simulatedStems, simulatedTable, simulatedTargets } from "./stems-simulated.ts";
import { STAND_GROUPS, type StandStemsRow, standStems, standStemsTable, standStemsTargets } from "./stems-stands.ts";

type StemsRow = ReferenceStemsRow | SimulatedRow | StandStemsRow;
const SIMULATED = "simulated";

const of = <Kind extends StemsRow["kind"]>(rows: readonly StemsRow[], kind: Kind) =>
  rows.filter((row): row is Extract<StemsRow, { kind: Kind }> => row.kind === kind);

/** The lines of each kind of rows that occurs. */
const lines = (
  rows: readonly StemsRow[],
  reference: (rows: readonly ReferenceStemsRow[]) => string[],
  simulated: (rows: readonly SimulatedRow[]) => string[],
  stand: (rows: readonly StandStemsRow[]) => string[],
): string =>
  [
    ...(of(rows, "reference").length > 0 ? reference(of(rows, "reference")) : []),
    ...(of(rows, "simulated").length > 0 ? simulated(of(rows, "simulated")) : []),
    ...(of(rows, "stand").length > 0 ? stand(of(rows, "stand")) : []),
  ].join("\n");

export const stemsPart: Part<StemsRow> = {
  methods: ["stems"],
  groups: [...REFERENCE_PLOTS, SIMULATED, ...STAND_GROUPS],
  measure: async (_methods, groups) => [
    ...(await referenceStems(groups)),
    ...(groups.includes(SIMULATED) ? await simulatedStems() : []),
    ...(await standStems(groups)),
  ],
  tables: (rows) => lines(rows, referenceStemsTable, simulatedTable, standStemsTable),
  targets: (rows) => lines(rows, referenceStemsTargets, simulatedTargets, standStemsTargets),
};
