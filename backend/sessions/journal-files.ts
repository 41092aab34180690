import {
  type Generation,
  type JournalRecord,
  type ReplayedJournal,
  replaySteps,
  undoFiles,
} from "./journal-records.ts";

/** All files that records name. */
export function namedFiles(records: readonly JournalRecord[]): Set<string> {
  const files = new Set<string>();
  for (const record of records) {
    if (record.type !== "create" && record.type !== "commit") continue;
    for (const file of Object.values(record.columns)) if (file !== null) files.add(file);
    if (record.type === "commit" || record.version === 2)
      for (const file of Object.values(record.misses ?? {})) files.add(file);
    if (record.type === "create" && record.version === 2) for (const file of undoFiles(record.undo)) files.add(file);
    if (record.type !== "commit") continue;
    for (const step of record.undo ?? []) {
      if (step.op === "delete") files.add(step.rows.file);
      else if (step.op === "fold_deletes" && step.base) files.add(step.base.file);
      else if (step.op === "paint") files.add(step.rows.file).add(step.previous);
    }
  }
  return files;
}

/** Files that a generation of columns is read or computed from. */
function generationFiles({ before, files, redo }: Generation): string[] {
  return [
    ...files.values(),
    ...[...redo.values()]
      .flat()
      .flatMap((act) => ("previous" in act ? [act.rows.file, act.previous] : [act.rows.file])),
    ...(before ? [...generationFiles(before), ...before.drop.map(({ file }) => file)] : []),
  ];
}

/** Files that the state of a replayed journal is read or computed from, each once. */
export const neededFiles = (state: ReplayedJournal): string[] => [
  ...new Set([...generationFiles(state), ...state.misses.values(), ...undoFiles(state.undo)]),
];

/** Numbers of records after which the state needs no damaged file, largest first. */
export function wholeCounts(records: readonly JournalRecord[], damaged: ReadonlySet<string>): number[] {
  const counts: number[] = [];
  let count = 0;
  for (const state of replaySteps(records)) {
    count += 1;
    if (!neededFiles(state).some((file) => damaged.has(file))) counts.push(count);
  }
  return counts.reverse();
}
