/** Greek letters as they are written in equations, and by name. */
const GREEK: ReadonlyMap<string, string> = new Map(
  [
    "alpha",
    "beta",
    "gamma",
    "delta",
    "epsilon",
    "zeta",
    "eta",
    "theta",
    "iota",
    "kappa",
    "lambda",
    "mu",
    "nu",
    "xi",
    "rho",
    "sigma",
    "tau",
    "upsilon",
    "phi",
    "chi",
    "psi",
    "omega",
    "Gamma",
    "Delta",
    "Theta",
    "Lambda",
    "Xi",
    "Pi",
    "Sigma",
    "Upsilon",
    "Phi",
    "Psi",
    "Omega",
  ].map((name) => [name, `\\${name}`]),
);
const LETTERS = "αβγδεζηθικλμνξρστυφχψωΓΔΘΛΞΠΣΥΦΨΩ";
const GREEK_LETTERS: ReadonlyMap<string, string> = new Map(
  [...LETTERS].map((letter, at) => [letter, [...GREEK.values()][at] ?? letter]),
);
/** Python's `lambda` is a keyword, so that other names stand for the letter. */
const OTHER_NAMES: ReadonlyMap<string, string> = new Map([
  ["lam", "\\lambda"],
  ["lambd", "\\lambda"],
  ["µ", "\\mu"],
  ["ς", "\\varsigma"],
  ["ϕ", "\\phi"],
  ["ϑ", "\\vartheta"],
  ["°", "{}^{\\circ}"],
]);

const greek = (name: string) => GREEK.get(name) ?? GREEK_LETTERS.get(name) ?? OTHER_NAMES.get(name);

/** One part of a symbol, without subscripts. Several letters stand upright, so that they do not look like a product. */
function part(text: string): string {
  const letter = greek(text);
  if (letter) return letter;
  if (/^(?:\d+|[A-Za-z])$/.test(text)) return text;
  const [, head = "", degree, tail = ""] = /^([^°]*)(°?)(.*)$/su.exec(text) ?? [];
  if (degree) return `${head ? part(head) : ""}{}^{\\circ}${tail ? part(tail) : ""}`;
  return `\\mathrm{${text}}`;
}

/**
 * A symbol in LaTeX: what follows an underscore, and digits at the end, are subscripts (g_s0 is g with s0 below, k1 is k
 * with 1 below), and names of Greek letters are the letters.
 */
export function symbolLatex(symbol: string): string {
  const [first = "", ...rest] = symbol.split("_").filter((piece) => piece !== "");
  const [, base = "", digits = ""] = /^(.*?)(\d*)$/su.exec(first) ?? [];
  const below = [...(digits && base ? [digits] : []), ...rest];
  const stem = base ? part(base) : digits ? part(digits) : "\\_";
  return below.length > 0 ? `${stem}_{${below.map(part).join(",")}}` : stem;
}
