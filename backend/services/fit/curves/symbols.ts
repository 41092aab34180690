import { AppError } from "../../../../shared/errors.ts";
import { parseExpression } from "../expression/parse.ts";

/** A symbol as equations know it (subscript digits become plain ones). Errors: invalid_argument if it is no name. */
export function symbolName(symbol: string, what: string): string {
  const refuse = (why: string): never => {
    throw new AppError(
      "invalid_argument",
      `the symbol "${symbol.slice(0, 60)}" of ${what} ${why}; use a name of letters, digits and _`,
    );
  };
  try {
    const node = parseExpression(symbol, "any");
    if (node.kind === "name") return node.name;
    return refuse(node.kind === "constant" ? `is the constant ${node.name}` : "is no name");
  } catch (raw) {
    if (raw instanceof AppError && raw.message.startsWith("Equation")) return refuse("is no name");
    throw raw;
  }
}

/** Symbols that are all different. Errors: invalid_argument. */
export class SymbolSet {
  readonly #of = new Map<string, string>();

  /** The name of a symbol that was not used before. */
  add(symbol: string, what: string): string {
    const name = symbolName(symbol, what);
    const other = this.#of.get(name);
    if (other !== undefined) {
      throw new AppError("invalid_argument", `the symbol "${name}" stands for ${other} and for ${what}; rename one`);
    }
    this.#of.set(name, what);
    return name;
  }
}
