import { refuseAt } from "./tokens.ts";
import type { BinarySign, Expression } from "./tree.ts";

/** Operations in the order of ExpressionOp (cpp/ops/fit/expression.h). */
const OPERATIONS = [
  "constant",
  "symbol",
  "negative",
  "+",
  "-",
  "*",
  "/",
  "**",
  "min",
  "max",
  "sqrt",
  "exp",
  "log",
  "log10",
  "sin",
  "cos",
  "tan",
  "asin",
  "acos",
  "atan",
  "sinh",
  "cosh",
  "tanh",
  "abs",
] as const;
const CODES: ReadonlyMap<string, number> = new Map(OPERATIONS.map((name, code) => [name, code]));
const ARGUMENT = 256;

/** A program for the native evaluator: postfix order, operation + 256 * argument. */
export interface Program {
  readonly code: readonly number[];
  readonly constants: readonly number[];
}

/** What the names of an expression stand for. */
export interface Names {
  /** Index of each symbol. */
  readonly symbols: ReadonlyMap<string, number>;
  readonly constants: ReadonlyMap<string, number>;
}

class Compiler {
  readonly code: number[] = [];
  readonly constants: number[] = [];
  readonly #known = new Map<number, number>();

  constructor(readonly names: Names) {}

  add(node: Expression): void {
    switch (node.kind) {
      case "number":
        this.#constant(node.value);
        return;
      case "constant":
        this.#constant(node.name === "pi" ? Math.PI : Math.E);
        return;
      case "name":
        this.#name(node.name, node.column);
        return;
      case "negative":
        this.add(node.of);
        this.#operation("negative");
        return;
      case "binary":
        this.add(node.left);
        this.add(node.right);
        this.#operation(node.sign);
        return;
      case "call":
        node.of.forEach((argument, at) => {
          this.add(argument);
          if (at > 0 || node.of.length === 1) this.#operation(node.name, node.column);
        });
    }
  }

  #operation(name: BinarySign | string, column = 1): void {
    const code = CODES.get(name);
    if (code === undefined) refuseAt(column, `"${name}(" is no function`);
    this.code.push(code);
  }

  #constant(value: number): void {
    const known = this.#known.get(value);
    const at = known ?? this.constants.push(value) - 1;
    this.#known.set(value, at);
    this.code.push((CODES.get("constant") ?? 0) + ARGUMENT * at);
  }

  #name(name: string, column: number): void {
    const { symbols, constants } = this.names;
    const symbol = symbols.get(name);
    const constant = constants.get(name);
    if (symbol !== undefined) this.code.push((CODES.get("symbol") ?? 0) + ARGUMENT * symbol);
    else if (constant !== undefined) this.#constant(constant);
    else {
      const known = [...symbols.keys(), ...constants.keys()];
      const listed = known.length > 0 ? known.slice(0, 30).join(", ") : "none";
      refuseAt(column, `"${name}" is no input, parameter or constant; these are ${listed}`);
    }
  }
}

/**
 * The program of an expression. Errors: invalid_argument with the column, for a name that stands for nothing.
 */
export function compileExpression(node: Expression, names: Names): Program {
  const compiler = new Compiler(names);
  compiler.add(node);
  return { code: compiler.code, constants: compiler.constants };
}
