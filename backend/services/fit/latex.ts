import type { LatexRequest, LatexResponse } from "../../../shared/contract/latex.ts";
import { AppError } from "../../../shared/errors.ts";
import { expressionLatex } from "./expression/latex.ts";
import { parseExpression } from "./expression/parse.ts";

/** Characters that mean something to LaTeX, in text. */
const IN_TEXT: ReadonlyMap<string, string> = new Map([
  ["\\", "\\textbackslash{}"],
  ["^", "\\textasciicircum{}"],
  ["~", "\\textasciitilde{}"],
  ...[..."{}_%#&$"].map((sign): [string, string] => [sign, `\\${sign}`]),
]);
const textLatex = (text: string) => `\\text{${text.replace(/[\\^~{}_%#&$]/g, (sign) => IN_TEXT.get(sign) ?? sign)}}`;

/** A symbol in LaTeX, or as text if it is no symbol. */
function leftSide(symbol: string): string {
  try {
    return symbol.trim() === "" ? "y" : expressionLatex(parseExpression(symbol, "any"));
  } catch {
    return textLatex(symbol);
  }
}

/** LaTeX of an equation; one that cannot be read is shown as text, and a warning says why. */
export function renderLatex({ equation, output_symbol, equation_type }: LatexRequest): LatexResponse {
  const [line = ""] = equation.split(/[\r\n]/, 1);
  const left = equation_type === "implicit" ? "0" : leftSide(output_symbol);
  try {
    return { success: true, latex: `${left} = ${expressionLatex(parseExpression(line, "any"))}` };
  } catch (raw) {
    if (!(raw instanceof AppError)) throw raw;
    return {
      success: true,
      latex: `${left} = ${textLatex(line.trim())}`,
      warnings: [`${raw.message}. The equation is shown as text.`],
    };
  }
}

/** Renders equations and keeps the latest one that could be read. */
export class LatexRenderer {
  #latest: LatexResponse | null = null;

  render(request: LatexRequest): LatexResponse {
    const rendered = renderLatex(request);
    if (!rendered.warnings) this.#latest = rendered;
    return rendered;
  }

  /** Errors: not_found if nothing was rendered yet. */
  latest(): LatexResponse {
    if (!this.#latest) {
      throw new AppError("not_found", "No equation was rendered yet; send `equation`, or POST one first.");
    }
    return this.#latest;
  }
}
