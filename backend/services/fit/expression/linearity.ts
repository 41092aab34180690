import type { Expression } from "./tree.ts";

/** How an expression depends on names: not at all, as a linear function of all of them together, or otherwise. */
const NONE = 0;
const LINEAR = 1;
const OTHER = 2;
type Dependence = typeof NONE | typeof LINEAR | typeof OTHER;

const atMost = (value: number): Dependence => (value >= OTHER ? OTHER : value === LINEAR ? LINEAR : NONE);

function dependence(node: Expression, names: ReadonlySet<string>): Dependence {
  switch (node.kind) {
    case "number":
    case "constant":
      return NONE;
    case "name":
      return names.has(node.name) ? LINEAR : NONE;
    case "negative":
      return dependence(node.of, names);
    case "call":
      return node.of.some((argument) => dependence(argument, names) !== NONE) ? OTHER : NONE;
    case "binary": {
      const left = dependence(node.left, names);
      const right = dependence(node.right, names);
      if (node.sign === "+" || node.sign === "-") return left > right ? left : right;
      if (node.sign === "*") return atMost(left + right);
      if (right !== NONE) return OTHER;
      return node.sign === "/" || left === NONE ? left : OTHER;
    }
  }
}

/**
 * Those of `names` that the expression is a linear function of together (with factors that may depend on everything else),
 * chosen greedily in their order.
 */
export function linearNames(node: Expression, names: readonly string[]): ReadonlySet<string> {
  const chosen = new Set<string>();
  for (const name of names) {
    chosen.add(name);
    if (dependence(node, chosen) === OTHER) chosen.delete(name);
  }
  return chosen;
}

/** Names in an expression. */
export function namesIn(node: Expression, into = new Set<string>()): ReadonlySet<string> {
  if (node.kind === "name") into.add(node.name);
  else if (node.kind === "negative") namesIn(node.of, into);
  else if (node.kind === "call") for (const argument of node.of) namesIn(argument, into);
  else if (node.kind === "binary") {
    namesIn(node.left, into);
    namesIn(node.right, into);
  }
  return into;
}
