/** An expression. `column` is where it begins in the equation, counted from 1. */
export type Expression =
  | { readonly kind: "number"; readonly text: string; readonly value: number }
  | { readonly kind: "constant"; readonly name: ConstantName }
  | { readonly kind: "name"; readonly name: string; readonly column: number }
  | { readonly kind: "call"; readonly name: string; readonly of: readonly Expression[]; readonly column: number }
  | { readonly kind: "negative"; readonly of: Expression }
  | { readonly kind: "binary"; readonly sign: BinarySign; readonly left: Expression; readonly right: Expression };

export type BinarySign = "+" | "-" | "*" | "/" | "**";
export type ConstantName = "pi" | "e";

/** How strongly a sign binds. A minus in front binds like a sum: -a*b is -(a*b), and -x**2 is -(x**2). */
export const BINDING = { "+": 1, "-": 1, negative: 1, "*": 2, "/": 2, "**": 3, atom: 4 } as const;

export const CONSTANTS: ReadonlyMap<string, ConstantName> = new Map([
  ["pi", "pi"],
  ["π", "pi"],
  ["e", "e"],
]);

/** Most arguments of a function. */
export const MAX_ARGUMENTS = 100;

/** Number of arguments of each function: least, most. */
export const FUNCTIONS: ReadonlyMap<string, readonly [number, number]> = new Map<string, readonly [number, number]>([
  ...["sqrt", "exp", "log", "log10", "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "abs"].map(
    (name): [string, readonly [number, number]] => [name, [1, 1]],
  ),
  ["min", [2, MAX_ARGUMENTS]],
  ["max", [2, MAX_ARGUMENTS]],
]);

export const bindingOf = (node: Expression): number =>
  node.kind === "binary" ? BINDING[node.sign] : node.kind === "negative" ? BINDING.negative : BINDING.atom;
