/** Longer ones first. */
const SYMBOLS =
  "umol nmol mmol mbar ubar mol bar mpa kpa hpa ppm ppb atm psi sec min pa kg mg cm mm hr g m s h w l".split(" ");
const TOKEN = new RegExp(`^(${SYMBOLS.join("|")})(?:\\^|\\*\\*)?([+-]?\\d+)?`);
/** Longer text is a remark. */
const LONGEST = 60;
/** What is measured, which units name too: mol CO2, photons. */
const SUBSTANCE = /(?<![a-z])(?:co2|h2o|co₂|photons?|quanta|ppfd)(?![a-z])/g;
const WORDS: Readonly<Record<string, string>> = {
  percent: "%",
  pct: "%",
  "": "1",
  "-": "1",
  fraction: "1",
  unitless: "1",
  dimensionless: "1",
  ratio: "1",
  "°c": "degc",
  degc: "degc",
  c: "degc",
  celsius: "degc",
  "degrees celsius": "degc",
  "deg c": "degc",
  "°f": "degf",
  degf: "degf",
  f: "degf",
  fahrenheit: "degf",
  "deg f": "degf",
  k: "k",
  kelvin: "k",
  "°k": "k",
};

/**
 * A unit in one spelling, so that "µmol m⁻² s⁻¹", "umol/m2/s" and "umol_CO2 m^-2 s^-1" are the same; null = none that is
 * known here. A sign before it stays: "-MPa" counts downwards.
 */
export function unitKey(text: string): string | null {
  if (text.length > LONGEST) return null;
  const plain = text
    .normalize("NFKC")
    .toLowerCase()
    .replace(/[μµ]/g, "u")
    .replace(/[\u2212\u2010-\u2015]/g, "-")
    .replaceAll("_", " ")
    .replace(/[{}]/g, "")
    .replace(SUBSTANCE, " ")
    .replace(/[·⋅∙•×]|\.(?!\d)/g, " ")
    .trim()
    .replace(/\s+/g, " ");
  const word = WORDS[plain] ?? (["%", "1", "degc", "degf"].includes(plain) ? plain : undefined);
  if (word !== undefined) return word;
  const sign = /^-\s*[a-z]/.test(plain) ? "-" : "";
  const powers = powersOf(plain.replace(/^-\s*/, ""));
  return powers === null ? null : sign + powers;
}

/** "umol m-2 s-1" in order, of a product of symbols; null = something else is in it. */
function powersOf(text: string): string | null {
  const powers = new Map<string, number>();
  let rest = text;
  let below = false; // after a slash: the next symbol, or all of a bracket
  let bracket = false;
  while (rest !== "") {
    const sign = rest[0] ?? "";
    if (sign === " " || sign === "*") {
      rest = rest.slice(1);
      continue;
    }
    if (sign === "/" || sign === "(" || sign === ")") {
      below = sign === "/" || (sign === "(" && below);
      bracket = sign === "(";
      rest = rest.slice(1);
      continue;
    }
    const [token, symbol = "", power = "1"] = TOKEN.exec(rest) ?? [];
    if (token === undefined) return null;
    const key = symbol === "sec" ? "s" : symbol === "hr" ? "h" : symbol;
    powers.set(key, (powers.get(key) ?? 0) + (below ? -1 : 1) * Number(power));
    if (!bracket) below = false;
    rest = rest.slice(token.length);
  }
  if (powers.size === 0) return null;
  return [...powers].map(([symbol, power]) => (power === 1 ? symbol : `${symbol}${power}`)).join(" ");
}
