import type { z } from "zod";
import { PlantShapes } from "../../shared/contract/plant-shapes.ts";
import { PlantGrowth } from "../../shared/contract/plant-species.ts";
import { SpeciesFile } from "../../shared/contract/plant-species-file.ts";
import { MAX_SPECIES_FILE_BYTES, MIB } from "../../shared/limits.ts";
import { JsonLineError, parseWithLines } from "./json-lines.ts";

const { name, scientific_name, expected, sources } = SpeciesFile.shape;

/** A species of the library: the bundled ones, and those of users, which may have ids of their own. */
export const LibrarySpecies = PlantGrowth.extend({
  name,
  scientific_name,
  group: name.describe("group in lists, such as Trees"),
  expected: expected.optional(),
  sources: sources.optional(),
  shapes: PlantShapes,
}).strict();
export type LibrarySpecies = z.infer<typeof LibrarySpecies>;

/** What is wrong with a file, and the line, from 1; null = of the whole file. */
export interface FileProblem {
  readonly line: number | null;
  readonly reason: string;
}

/** Code made for a schema takes longer than it saves: each file is checked once. */
const ONCE = { jitless: true };

/** Reads the text of a species file. Lines are looked for only in a file that cannot be used. */
export function readSpecies(text: string): { species: LibrarySpecies } | { problem: FileProblem } {
  const good = LibrarySpecies.safeParse(jsonOf(text), ONCE);
  return good.success ? { species: good.data } : problemOf(text);
}

/** undefined for a text that is no JSON. */
function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

function problemOf(text: string): { problem: FileProblem } {
  try {
    const { value, lineOf } = parseWithLines(text);
    const parsed = LibrarySpecies.safeParse(value, ONCE);
    if (parsed.success) throw new Error("a species file that can be used has no problem");
    const issue = deepest(parsed.error.issues);
    const unknown = issue.code === "unrecognized_keys" ? issue.keys[0] : undefined;
    const path = unknown === undefined ? issue.path : [...issue.path, unknown];
    const where = path.length > 0 ? `${path.map(String).join(".")}: ` : "";
    return { problem: { line: lineOf(path), reason: `${where}${issue.message}` } };
  } catch (error) {
    if (error instanceof JsonLineError) return { problem: { line: error.line, reason: error.message } };
    throw error;
  }
}

type Issue = z.core.$ZodIssue;

/** The first issue; of a choice between forms, that of the form that fits best. */
function deepest([first]: readonly Issue[]): Issue {
  if (!first) throw new Error("an error without an issue");
  if (first.code !== "invalid_union") return first;
  const branches = first.errors.filter((issues) => issues.length > 0).map(deepest);
  const best = branches.sort((a, b) => b.path.length - a.path.length)[0];
  if (!best || best.path.length === 0) return first;
  return { ...best, path: [...first.path, ...best.path] };
}

export const tooLarge = (bytes: number): FileProblem | null =>
  bytes > MAX_SPECIES_FILE_BYTES
    ? {
        line: null,
        reason: `it has ${(bytes / MIB).toFixed(1)} MiB, more than ${MAX_SPECIES_FILE_BYTES / MIB} MiB`,
      }
    : null;
