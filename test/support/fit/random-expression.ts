import type { Expression } from "../../../backend/services/fit/expression/tree.ts";

/** Numbers in [0, 1) from a seed. */
export function randomUnits(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

const ONE_ARGUMENT = [
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
];
const NAMES = ["x", "y", "k", "x_1", "g_s", "alpha", "psi_50", "V_max", "VPD", "theta_leaf_2"];
const NUMBERS = ["0", "2", "10", "0.5", "1.25", "1e-3", "2.5e+10", "3."];

/** A random equation with brackets round every part, and its tree in prefix form. */
export function randomExpression(unit: () => number, depth: number, names = NAMES): { text: string; prefix: string } {
  const pick = <T>(list: readonly T[]) => list[Math.floor(unit() * list.length)] as T;
  const below = () => randomExpression(unit, depth - 1, names);
  const kind = depth === 0 ? Math.floor(unit() * 2) : 2 + Math.floor(unit() * 4);
  if (kind === 0) {
    const text = pick(NUMBERS);
    return { text, prefix: String(Number(text)) };
  }
  if (kind === 1) {
    const text = unit() < 0.1 ? pick(["pi", "e"]) : pick(names);
    return { text, prefix: namePrefix(text) };
  }
  if (kind === 2) {
    const { text, prefix } = below();
    return { text: `(-(${text}))`, prefix: `(neg ${prefix})` };
  }
  if (kind === 3) {
    const name = unit() < 0.2 ? pick(["min", "max"]) : pick(ONE_ARGUMENT);
    const of = /min|max/.test(name) ? [below(), below(), ...(unit() < 0.3 ? [below()] : [])] : [below()];
    return {
      text: `${name}(${of.map(({ text }) => text).join(", ")})`,
      prefix: `(${name} ${of.map(({ prefix }) => prefix).join(" ")})`,
    };
  }
  const sign = pick(["+", "-", "*", "/", "**"]);
  const [left, right] = [below(), below()];
  return { text: `((${left.text})${sign}(${right.text}))`, prefix: `(${sign} ${left.prefix} ${right.prefix})` };
}

/** A name as it looks: digits at its end are a subscript, as after an underscore. */
const namePrefix = (name: string) => {
  const [first = "", ...below] = name.split("_");
  return below.length > 0 ? `${first}_${below.join(",")}` : first;
};

/** The tree in prefix form. */
export function prefixOf(node: Expression): string {
  switch (node.kind) {
    case "number":
      return String(node.value);
    case "constant":
      return node.name;
    case "name":
      return namePrefix(node.name);
    case "negative":
      return `(neg ${prefixOf(node.of)})`;
    case "call":
      return `(${node.name} ${node.of.map(prefixOf).join(" ")})`;
    case "binary":
      return `(${node.sign} ${prefixOf(node.left)} ${prefixOf(node.right)})`;
  }
}
