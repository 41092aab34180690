import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { root } from "../../bench/folders.ts";

/** Folder of the sets; they are not part of the repository. */
export const NIST = join(resolve(root, process.env.APP_TEST_DATA ?? "../shared/data"), "nist");

/** A set of the Statistical Reference Datasets of NIST: nonlinear regression. */
export interface NistSet {
  readonly name: string;
  /** The right-hand side in our notation. */
  readonly equation: string;
  readonly starts: readonly [readonly number[], readonly number[]];
  /** 11 digits. */
  readonly certified: readonly number[];
  readonly deviations: readonly number[];
  readonly residual_sum: number;
  /** By symbol; y is the output. */
  readonly data: Readonly<Record<string, readonly number[]>>;
}

/** Lines "from to" of the header, 1-based. */
function section(lines: readonly string[], name: string): readonly string[] {
  const found = lines
    .map((line) => new RegExp(`${name}\\s*\\(lines\\s+(\\d+) to\\s+(\\d+)\\)`).exec(line))
    .find(Boolean);
  if (!found) throw new Error(`no section ${name}`);
  return lines.slice(Number(found[1]) - 1, Number(found[2]));
}

/** The model line without its error term, in our notation. */
function equationOf(lines: readonly string[]): string {
  const first = lines.findIndex((line) => /^\s*(y|log\[y\])\s*=/.test(line));
  const rest = lines.slice(first).join(" ").replace(/\s+/g, " ");
  const [, right = ""] = /=\s*(.*?)\s*\+\s*e\b/.exec(rest) ?? [];
  return right
    .replaceAll("[", "(")
    .replaceAll("]", ")")
    .replace(/\barctan\b/g, "atan")
    .replace(/\*\*-/g, "**-");
}

/**
 * The file of Roszman1 has 1.20196866396 for b1. NIST has 0.20196866396, and only that has the certified residual sum: the
 * other one moves the curve by 1, which leaves a sum of 25.
 */
const CORRECTED: Readonly<Record<string, readonly (number | undefined)[]>> = { Roszman1: [2.0196866396e-1] };

/** Reads a set. */
export function nistSet(name: string): NistSet {
  const lines = readFileSync(join(NIST, `${name}.dat`), "utf8").split(/\r?\n/);
  const rows = section(lines, "Certified Values")
    .map((line) => /^\s*b\d+ =\s+(.*)$/.exec(line)?.[1]?.trim().split(/\s+/).map(Number))
    .filter((row) => row !== undefined);
  const at = (column: number) => rows.map((row) => row[column] ?? Number.NaN);
  const header = lines.find((line) => /^Data:\s+y/.test(line)) ?? "";
  const columns = header.replace("Data:", "").trim().split(/\s+/);
  const values = section(lines, "Data")
    .filter((line) => line.trim() !== "")
    .map((line) => line.trim().split(/\s+/).map(Number));
  const data = Object.fromEntries(columns.map((column, i) => [column, values.map((row) => row[i] ?? Number.NaN)]));
  const sum = lines.find((line) => line.startsWith("Residual Sum of Squares:")) ?? "";
  return {
    name,
    equation: equationOf(lines),
    starts: [at(0), at(1)],
    certified: at(2).map((value, i) => CORRECTED[name]?.[i] ?? value),
    deviations: at(3),
    residual_sum: Number(sum.split(":")[1]),
    data: name === "Nelson" ? { ...data, y: (data.y ?? []).map(Math.log) } : data,
  };
}

/** The request that fits a set from one of its starts. */
export function nistRequest({ equation, starts, data }: NistSet, start: 0 | 1) {
  const inputs = Object.keys(data).filter((column) => column !== "y");
  return {
    model_type: "user" as const,
    equation,
    parameters: starts[start].map((value, i) => ({ name: `b${i + 1}`, symbol: `b${i + 1}`, default: value })),
    inputs: inputs.map((column) => ({ name: column, symbol: column })),
    outputs: [{ name: "y", symbol: "y" }],
    column_mappings: Object.fromEntries([...inputs.map((column) => [`input_${column}`, column]), ["output_y", "y"]]),
    data,
  };
}

/** Correct digits of a value, at most 11, which is what the certified values have. */
export const digits = (value: number, certified: number): number =>
  Math.min(11, value === certified ? 11 : Math.max(0, -Math.log10(Math.abs(value - certified) / Math.abs(certified))));
