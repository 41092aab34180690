import type { MorphEdit, ParamDistribution } from "../../../shared/contract/plant-morph.ts";
import { AppError } from "../../../shared/errors.ts";
import { MAX_MORPH_EDITS, MAX_MORPH_EXPRESSION_CHARS } from "../../../shared/limits.ts";

/*
 * Morph expressions:
 *
 * expr   = stmt { ";" stmt }            empty statements are skipped
 * stmt   = target op value
 * target = [ shoot "." ] param          without shoot: every shoot type
 * op     = "=" | "*=" | "+="
 * value  = number | "uniform(" number "," number ")" | "normal(" number "," number ")" | "constant(" number ")"
 */

/** An edit and where it stands in the expression. */
export interface ParsedEdit extends MorphEdit {
  /** Columns, from 1, of the target and of the value. */
  readonly target_column: number;
  readonly value_column: number;
}

const NAME = /[A-Za-z_][A-Za-z0-9_]*/y;
const NUMBER = /[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?/y;
const BLANKS = /\s*/y;
const DISTRIBUTIONS: Readonly<Record<string, number>> = { constant: 1, uniform: 2, normal: 2 };

/** Error of an expression: the column, from 1, and the rule. */
export const expressionError = (column: number, rule: string): AppError =>
  new AppError("invalid_argument", `expression, column ${column}: ${rule}`);

/** Reads an expression. Errors: invalid_argument with the column. What the names mean is not checked. */
export function parseExpression(text: string): ParsedEdit[] {
  if (text.length > MAX_MORPH_EXPRESSION_CHARS) {
    throw expressionError(MAX_MORPH_EXPRESSION_CHARS + 1, `it is longer than ${MAX_MORPH_EXPRESSION_CHARS} characters`);
  }
  const reader = new Reader(text);
  const edits: ParsedEdit[] = [];
  do {
    if (reader.ended() || reader.sees(";")) continue;
    if (edits.length === MAX_MORPH_EDITS) throw reader.error(`it has more than ${MAX_MORPH_EDITS} edits`);
    edits.push(statement(reader));
  } while (reader.take(";"));
  if (!reader.ended()) throw reader.error("a semicolon or the end is expected");
  return edits;
}

function statement(reader: Reader): ParsedEdit {
  const target_column = reader.column();
  const first = reader.name("a parameter is expected, such as leaf_scale");
  const param = reader.take(".") ? reader.name("a parameter is expected behind the point") : undefined;
  const op = (["*=", "+=", "="] as const).find((symbol) => reader.take(symbol));
  if (!op) throw reader.error("=, *= or += is expected");
  const value_column = reader.column();
  const value = givenValue(reader);
  return {
    shoot_type: param === undefined ? null : first,
    param: param ?? first,
    op,
    value,
    target_column,
    value_column,
  };
}

function givenValue(reader: Reader): number | ParamDistribution {
  if (!reader.seesName()) return reader.number();
  const column = reader.column();
  const distribution = reader.name("");
  const count = Object.hasOwn(DISTRIBUTIONS, distribution) ? DISTRIBUTIONS[distribution] : undefined;
  if (count === undefined) {
    throw expressionError(column, `"${distribution}" is not a number, uniform(a, b), normal(mean, sd) or constant(a)`);
  }
  reader.expect("(");
  const parameters = [reader.number()];
  while (parameters.length < count) {
    reader.expect(",");
    parameters.push(reader.number());
  }
  reader.expect(")");
  const [a = 0, b = 0] = parameters;
  if (distribution === "uniform" && a > b)
    throw expressionError(column, `the lowest value ${a} is above the highest ${b}`);
  if (distribution === "normal" && b < 0) throw expressionError(column, `the standard deviation ${b} is negative`);
  return { distribution: distribution as ParamDistribution["distribution"], parameters };
}

/** A position in the text; blanks before tokens are skipped. */
class Reader {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
    this.#skipBlanks();
  }
  ended(): boolean {
    return this.#at === this.#text.length;
  }
  column(): number {
    return this.#at + 1;
  }
  sees(symbol: string): boolean {
    return this.#text.startsWith(symbol, this.#at);
  }
  seesName(): boolean {
    return this.#match(NAME) !== undefined;
  }
  take(symbol: string): boolean {
    if (!this.sees(symbol)) return false;
    this.#go(symbol.length);
    return true;
  }
  expect(symbol: string): void {
    if (!this.take(symbol)) throw this.error(`${symbol} is expected`);
  }
  name(rule: string): string {
    const found = this.#match(NAME);
    if (found === undefined) throw this.error(rule);
    this.#go(found.length);
    return found;
  }
  number(): number {
    const found = this.#match(NUMBER);
    if (found === undefined) throw this.error("a number is expected");
    const value = Number(found);
    if (!Number.isFinite(value)) throw this.error(`${found} is too large`);
    this.#go(found.length);
    return value;
  }
  error(rule: string): AppError {
    const found = this.ended() ? "the end" : JSON.stringify(this.#text.slice(this.#at, this.#at + 20));
    return expressionError(this.column(), `${rule}, but found ${found}`);
  }
  #match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at;
    return pattern.exec(this.#text)?.[0];
  }
  #go(length: number): void {
    this.#at += length;
    this.#skipBlanks();
  }
  #skipBlanks(): void {
    this.#at += this.#match(BLANKS)?.length ?? 0;
  }
}
