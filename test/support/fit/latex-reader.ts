/*
 * Reads back the LaTeX that the service writes, in prefix form. Written against the notation, not against the printer:
 * \frac{a}{b}, \sqrt{a}, a^{b}, \left( \right), \left| \right|, \cdot or nothing for a product, \times 10^{n} in numbers.
 */

const FUNCTIONS: Readonly<Record<string, string>> = {
  "\\exp": "exp",
  "\\ln": "log",
  "\\log": "log10",
  "\\sin": "sin",
  "\\cos": "cos",
  "\\tan": "tan",
  "\\arcsin": "asin",
  "\\arccos": "acos",
  "\\arctan": "atan",
  "\\sinh": "sinh",
  "\\cosh": "cosh",
  "\\tanh": "tanh",
  "\\min": "min",
  "\\max": "max",
};

class LatexReader {
  #rest: string;
  constructor(latex: string) {
    this.#rest = latex;
  }

  whole(): string {
    const sum = this.sum();
    this.#blank();
    if (this.#rest !== "") throw new Error(`left over: ${this.#rest}`);
    return sum;
  }

  #blank() {
    this.#rest = this.#rest.trimStart();
  }
  #take(text: string): boolean {
    this.#blank();
    const found = this.#rest.startsWith(text);
    if (found) this.#rest = this.#rest.slice(text.length);
    return found;
  }
  #match(pattern: RegExp): string | null {
    this.#blank();
    const found = pattern.exec(this.#rest)?.[0] ?? null;
    if (found) this.#rest = this.#rest.slice(found.length);
    return found;
  }
  #expect(text: string) {
    if (!this.#take(text)) throw new Error(`${text} expected: ${this.#rest}`);
  }

  sum(): string {
    let left = this.#take("-") ? `(neg ${this.product()})` : this.product();
    for (;;) {
      if (this.#take("+")) left = `(+ ${left} ${this.product()})`;
      else if (this.#take("-")) left = `(- ${left} ${this.product()})`;
      else return left;
    }
  }

  product(): string {
    let left = this.power();
    for (;;) {
      this.#blank();
      if (this.#rest === "" || /^(?:[-+,}]|\\right)/.test(this.#rest)) return left;
      this.#take("\\cdot");
      left = `(* ${left} ${this.power()})`;
    }
  }

  power(): string {
    const base = this.atom();
    return this.#take("^") ? `(** ${base} ${this.braced()})` : base;
  }

  braced(): string {
    this.#expect("{");
    const inside = this.sum();
    this.#expect("}");
    return inside;
  }

  atom(): string {
    if (this.#take("\\frac")) {
      const fraction = `(/ ${this.braced()} ${this.braced()})`;
      if (this.#take("^")) throw new Error("an exponent on a bare fraction: which part is raised?");
      return fraction;
    }
    if (this.#take("\\sqrt")) return `(sqrt ${this.braced()})`;
    if (this.#take("\\left(")) return this.#closed("\\right)")[0] ?? "";
    if (this.#take("\\left|")) return `(abs ${this.#closed("\\right|").join(" ")})`;
    const number = this.#match(/^\d[\d.]*|^\.\d+/);
    if (number) {
      const exponent = this.#match(/^\\times 10\^\{-?\d+\}/);
      if (exponent && this.#take("^")) throw new Error("an exponent on a power of ten: what is raised?");
      return String(Number(exponent ? `${number}e${/\{(.*)\}/.exec(exponent)?.[1]}` : number));
    }
    const command = this.#match(/^\\(?:operatorname|[a-z]+)/i);
    const known = command && FUNCTIONS[command];
    if (known) {
      if (known === "log10") this.#expect("_{10}");
      this.#expect("\\left(");
      return `(${known} ${this.#closed("\\right)").join(" ")})`;
    }
    const stem = command === "\\mathrm" ? this.#match(/^\{[^}]*\}/) : (command ?? this.#match(/^[A-Za-z]/));
    if (!stem) throw new Error(`no value: ${this.#rest}`);
    return (
      stem.replace(/[\\{}]/g, "") + (this.#match(/^_\{(?:[^{}]|\{[^{}]*\})*\}/) ?? "").replace(/[\\{}]|mathrm/g, "")
    );
  }

  #closed(end: string): string[] {
    const values = [this.sum()];
    while (this.#take(",")) values.push(this.sum());
    this.#expect(end);
    return values;
  }
}

/** Prefix form of an expression in LaTeX: (+ a (* b c)). */
export const readLatex = (latex: string) => new LatexReader(latex).whole();
