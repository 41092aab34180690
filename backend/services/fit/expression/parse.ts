import { refuseAt, type Sign, type Token, tokens } from "./tokens.ts";
import { BINDING, type BinarySign, CONSTANTS, type Expression, FUNCTIONS, MAX_ARGUMENTS } from "./tree.ts";

/** Deepest nesting of an expression. */
const MAX_DEPTH = 200;

/** Which names may be called. `any` is for showing an equation, not for computing it. */
export type CallNames = "known" | "any";

const isBinary = (sign: Sign): sign is BinarySign => sign in BINDING && sign !== "√";

class Parser {
  readonly #tokens: Generator<Token, undefined>;
  readonly #calls: CallNames;
  #next: Token;

  constructor(equation: string, calls: CallNames) {
    this.#tokens = tokens(equation);
    this.#calls = calls;
    this.#next = this.#step();
  }

  /** Steps over a token. */
  #step(): Token {
    const { value } = this.#tokens.next();
    if (value) this.#next = value; // else the end, which stays
    return this.#next;
  }

  whole(): Expression {
    if (this.#peek().kind === "end") refuseAt(1, "the equation is empty");
    const node = this.#sum(BINDING["+"], 0);
    if (this.#peek().kind !== "end") refuseAt(this.#peek().column, `"${this.#peek().text}" is not expected here`);
    return node;
  }

  #peek(): Token {
    return this.#next;
  }

  #is(sign: Sign): boolean {
    return this.#peek().kind === "sign" && this.#peek().text === sign;
  }

  /** Everything whose signs bind at least as strongly as `least`. */
  #sum(least: number, depth: number): Expression {
    let left = this.#signed(least, depth);
    for (let length = 0; ; ++length) {
      if (length === 2 * MAX_DEPTH)
        refuseAt(this.#peek().column, `more than ${2 * MAX_DEPTH} terms or factors in a row`);
      const { sign, written } = this.#sign(left);
      if (!sign || BINDING[sign] < least) return left;
      if (written) this.#step();
      left = { kind: "binary", sign, left, right: this.#right(sign, depth) };
    }
  }

  /** The sign that follows, or "*" where a product is written without one: 2 x, 2 (a + b). */
  #sign(left: Expression): { sign: BinarySign | null; written: boolean } {
    const { kind, text, column } = this.#peek();
    if (kind === "sign" && isBinary(text)) return { sign: text, written: true };
    const opens = kind === "name" || this.#is("(") || this.#is("√");
    if (!opens && kind !== "number") return { sign: null, written: false };
    if (kind === "number" || (left.kind === "binary" && left.sign === "/")) {
      refuseAt(column, `a sign is missing before "${text}"; write * for a product`);
    }
    return { sign: "*", written: false };
  }

  #right(sign: BinarySign, depth: number): Expression {
    if (sign !== "**") return this.#sum(BINDING[sign] + 1, depth + 1);
    const power = this.#signed(BINDING.atom, depth + 1);
    if (this.#is("**")) {
      refuseAt(this.#peek().column, "a power of a power needs brackets: x**(y**z) or (x**y)**z");
    }
    return power;
  }

  #signed(least: number, depth: number): Expression {
    if (!this.#is("-") && !this.#is("+")) return this.#atom(depth);
    if (depth > MAX_DEPTH) refuseAt(this.#peek().column, `more than ${MAX_DEPTH} levels of signs`);
    const isNegative = this.#is("-");
    this.#step();
    const of = this.#sum(Math.max(least, BINDING["*"]), depth + 1);
    return isNegative ? { kind: "negative", of } : of;
  }

  #atom(depth: number): Expression {
    const { kind, text, column } = this.#peek();
    if (depth > MAX_DEPTH) refuseAt(column, `more than ${MAX_DEPTH} levels of brackets and powers`);
    if (kind === "end") refuseAt(column, "the equation ends where a value is expected");
    this.#step();
    if (kind === "number") return { kind, text, value: Number(text) };
    if (kind === "name") return this.#named(text, column, depth);
    if (text === "(") return this.#closed(column, this.#sum(BINDING["+"], depth + 1));
    if (text === "√") return { kind: "call", name: "sqrt", of: [this.#atom(depth + 1)], column };
    refuseAt(column, `"${text}" is not expected here, but a value`);
  }

  #named(name: string, column: number, depth: number): Expression {
    const known = FUNCTIONS.get(name);
    if (!this.#is("(")) {
      if (known) refuseAt(column, `the function ${name} needs its argument in brackets: ${name}(x)`);
      const constant = CONSTANTS.get(name);
      return constant ? { kind: "constant", name: constant } : { kind: "name", name, column };
    }
    if (!known && this.#calls === "known") {
      refuseAt(
        column,
        `"${name}(" is no function; the functions are ${[...FUNCTIONS.keys()].join(", ")}; write * for a product`,
      );
    }
    this.#step();
    const of: Expression[] = [];
    do {
      if (of.length === MAX_ARGUMENTS) refuseAt(this.#peek().column, `more than ${MAX_ARGUMENTS} arguments`);
      of.push(this.#sum(BINDING["+"], depth + 1));
    } while (this.#comma());
    const [least, most] = known ?? [1, MAX_ARGUMENTS];
    if (of.length < least || of.length > most) {
      const wanted = least === most ? "one argument" : `${least} or more arguments`;
      refuseAt(column, `${name} takes ${wanted}, not ${of.length}`);
    }
    return this.#closed(column, { kind: "call", name, of, column });
  }

  #comma(): boolean {
    const found = this.#is(",");
    if (found) this.#step();
    return found;
  }

  #closed(opened: number, node: Expression): Expression {
    if (!this.#is(")")) {
      const { kind, column, text } = this.#peek();
      if (kind === "end") refuseAt(opened, "this bracket is never closed");
      refuseAt(column, `"${text}" is not expected here, but ")"`);
    }
    this.#step();
    return node;
  }
}

/**
 * Reads an equation: + - * / and ** or ^ for powers, brackets, functions, pi and e; products may be written without a
 * sign after a number, a name or a bracket.
 *
 * Not read, since readers disagree about the meaning: a ** b ** c, and a product without a sign after a division.
 * Errors: invalid_argument with the column.
 */
export const parseExpression = (equation: string, calls: CallNames = "known"): Expression =>
  new Parser(equation, calls).whole();
