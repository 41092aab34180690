import { symbolLatex } from "./symbols.ts";
import { BINDING, bindingOf, type Expression } from "./tree.ts";

/** Functions with a command of their own; `log` is the natural logarithm. */
const COMMANDS: ReadonlyMap<string, string> = new Map([
  ["exp", "\\exp"],
  ["log", "\\ln"],
  ["log10", "\\log_{10}"],
  ["sin", "\\sin"],
  ["cos", "\\cos"],
  ["tan", "\\tan"],
  ["asin", "\\arcsin"],
  ["acos", "\\arccos"],
  ["atan", "\\arctan"],
  ["sinh", "\\sinh"],
  ["cosh", "\\cosh"],
  ["tanh", "\\tanh"],
  ["min", "\\min"],
  ["max", "\\max"],
]);

const bracketed = (text: string) => `\\left(${text}\\right)`;
const inBrackets = (node: Expression, needed: boolean) =>
  needed ? bracketed(expressionLatex(node)) : expressionLatex(node);

/** 1.5e-3 is 1.5 times a power of ten. */
function numberLatex(text: string): string {
  const [digits = "", exponent] = text.toLowerCase().split("e");
  return exponent === undefined ? digits : `${digits} \\times 10^{${Number(exponent)}}`;
}
const hasExponent = (node: Expression) => node.kind === "number" && /e/i.test(node.text);

function callLatex(name: string, of: readonly Expression[]): string {
  const [first] = of;
  if (name === "sqrt" && first) return `\\sqrt{${expressionLatex(first)}}`;
  if (name === "abs" && first) return `\\left|${expressionLatex(first)}\\right|`;
  const command = COMMANDS.get(name) ?? `\\operatorname{${symbolLatex(name)}}`;
  return `${command}${bracketed(of.map(expressionLatex).join(", "))}`;
}

/** A number before a number or a fraction needs a dot: 2 1/2 reads as two and a half. */
function productLatex(left: string, right: string): string {
  const needsDot = /^\d|^\.\d/.test(right) || (/\d$|\d\}$/.test(left) && /^\\frac/.test(right));
  return `${left} ${needsDot ? "\\cdot " : ""}${right}`;
}

function binaryLatex({ sign, left, right }: Extract<Expression, { kind: "binary" }>): string {
  if (sign === "/") return `\\frac{${expressionLatex(left)}}{${expressionLatex(right)}}`;
  if (sign === "**") {
    const isPlain = bindingOf(left) === BINDING.atom && !hasExponent(left);
    return `${inBrackets(left, !isPlain)}^{${expressionLatex(right)}}`;
  }
  const first = inBrackets(left, bindingOf(left) < BINDING[sign]);
  if (sign === "*") {
    const isFraction = right.kind === "binary" && right.sign === "/";
    return productLatex(first, inBrackets(right, !isFraction && bindingOf(right) <= BINDING["*"]));
  }
  return `${first} ${sign} ${inBrackets(right, bindingOf(right) <= BINDING["+"])}`;
}

/** LaTeX of an expression: terms in their order, and only the brackets without which it would be another expression. */
export function expressionLatex(node: Expression): string {
  switch (node.kind) {
    case "number":
      return numberLatex(node.text);
    case "constant":
      return node.name === "pi" ? "\\pi" : "e";
    case "name":
      return symbolLatex(node.name);
    case "call":
      return callLatex(node.name, node.of);
    case "negative":
      return `-${inBrackets(node.of, bindingOf(node.of) <= BINDING.negative)}`;
    case "binary":
      return binaryLatex(node);
  }
}
