import { AppError } from "../../../../shared/errors.ts";

/** Longest equation, characters. */
export const MAX_EQUATION_LENGTH = 10_000;

/** `column` counts characters from 1. */
export type Token =
  | { readonly kind: "number"; readonly text: string; readonly column: number }
  | { readonly kind: "name"; readonly text: string; readonly column: number }
  | { readonly kind: "sign"; readonly text: Sign; readonly column: number }
  | { readonly kind: "end"; readonly text: ""; readonly column: number };
export type Sign = "+" | "-" | "*" | "/" | "**" | "(" | ")" | "," | "√";

/** Other spellings of the signs: typographic ones, and ^ for a power. */
const SIGNS: ReadonlyMap<string, Sign> = new Map<string, Sign>([
  ["+", "+"],
  ["-", "-"],
  ["−", "-"],
  ["–", "-"],
  ["*", "*"],
  ["×", "*"],
  ["·", "*"],
  ["⋅", "*"],
  ["/", "/"],
  ["÷", "/"],
  ["^", "**"],
  ["(", "("],
  [")", ")"],
  [",", ","],
  ["√", "√"],
]);

const BLANK = /\s+/uy;
const NUMBER = /(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?/uy;
const NAME = /(?:np\.|math\.)?([\p{L}_°][\p{L}\p{M}\p{Nd}_°₀-₉]*)/uy;
const SUBSCRIPT_ZERO = 0x2080;

/** Throws invalid_argument: "column 5: ...". */
export function refuseAt(column: number, problem: string): never {
  throw new AppError("invalid_argument", `Equation, column ${column}: ${problem}`);
}

/** Subscript digits become plain ones: gs₀ is gs0. */
const plainDigits = (name: string) =>
  name.replace(/[₀-₉]/gu, (digit) => String((digit.codePointAt(0) ?? SUBSCRIPT_ZERO) - SUBSCRIPT_ZERO));

/** What `pattern` finds at `at`. */
function match(pattern: RegExp, equation: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at;
  return pattern.exec(equation);
}

/** The number, name or sign at `at`, and where it ends. */
function tokenAt(equation: string, at: number): { token: Token; end: number } {
  const column = at + 1;
  const number = match(NUMBER, equation, at);
  if (number) {
    const [text] = number;
    if (!Number.isFinite(Number(text))) refuseAt(column, `${text} is beyond the largest number, 1.8e308`);
    return { token: { kind: "number", text, column }, end: at + text.length };
  }
  const name = match(NAME, equation, at);
  if (name) {
    const [whole, text = ""] = name;
    return { token: { kind: "name", text: plainDigits(text.normalize("NFC")), column }, end: at + whole.length };
  }
  const two = equation.slice(at, at + 2) === "**";
  const sign = two ? "**" : SIGNS.get(equation.charAt(at));
  if (!sign) refuseAt(column, `"${String.fromCodePoint(equation.codePointAt(at) ?? 0)}" has no meaning here`);
  return { token: { kind: "sign", text: sign, column }, end: at + (two ? 2 : 1) };
}

/**
 * Numbers, names and signs of an equation, one at a time; the last one is the end. A prefix `np.` or `math.` is dropped.
 * Errors: invalid_argument with the column, for a character without a meaning and an equation that is too long.
 */
export function* tokens(equation: string): Generator<Token, undefined> {
  if (equation.length > MAX_EQUATION_LENGTH) {
    refuseAt(
      MAX_EQUATION_LENGTH + 1,
      `an equation has at most ${MAX_EQUATION_LENGTH} characters, this one ${equation.length}`,
    );
  }
  for (let at = 0; ; ) {
    at += match(BLANK, equation, at)?.[0].length ?? 0;
    if (at === equation.length) break;
    const { token, end } = tokenAt(equation, at);
    yield token;
    at = end;
  }
  yield { kind: "end", text: "", column: equation.length + 1 };
}
