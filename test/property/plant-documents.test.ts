import { beforeAll, expect, test } from "vitest";
import { addon } from "../../backend/native/core/addon.ts";
import { MorphParseResponse, MorphResponse } from "../../shared/contract/plant-morph.ts";
import { randomUnits } from "../support/fit/random-expression.ts";
import { eventually } from "../support/run/stopwatch.ts";
import { build, checkLengths, posted } from "../support/session/plants.ts";
import { sessionTest } from "../support/session/session-test.ts";

const COUNT = Number(process.env.APP_TEST_DOCUMENTS ?? 200);
const SEED = Number(process.env.APP_TEST_SEED ?? 1);
/** A plant that a mutation made large is answered or refused by then. */
const SLOWEST_MS = 20_000;
/** The whole contract takes longer to check than the answer to make. */
const CONTRACT_EVERY = 20;

const made = sessionTest();
const documents: { plant_type: string; sim_xml: string }[] = [];
beforeAll(async () => {
  for (const [plant_type, age] of [
    ["bean", 5],
    ["cheeseweed", 6],
    ["bindweed", 16],
  ] as const) {
    const { sim_xml } = await build(made, "/api/plant/generate", { plant_type, age, random_seed: 1 });
    documents.push({ plant_type, sim_xml: sim_xml ?? "" });
  }
});

type Unit = () => number;
const pick = <T>(unit: Unit, list: readonly T[]): T => {
  const value = list[Math.floor(unit() * list.length)];
  if (value === undefined) throw new Error("nothing to pick from");
  return value;
};

const NUMBERS = [
  "0",
  "-1",
  "1e308",
  "-1e308",
  "1e-320",
  "nan",
  "inf",
  "1e9",
  "4294967296",
  "-2147483649",
  "",
  "x",
  "0x1p3",
];
const TEXTS = [
  "<",
  ">",
  "&",
  "&#0;",
  "&lol;",
  "<!DOCTYPE a [<!ENTITY b 'c'>]>",
  "<![CDATA[x]]>",
  "<?x?>",
  "<!--",
  "\0",
  "\ufffd",
];
const PARTS = [
  "leaf_scale",
  "size",
  "*=",
  "+=",
  "=",
  ";",
  ".",
  "uniform(",
  "normal(",
  ")",
  ",",
  "1e999",
  "-3",
  "stem",
  "1.2",
  " ",
];

/** Places of the numbers of a text between two tags. */
const numbersOf = (text: string) => [...text.matchAll(/>\s*(-?[\d.][^<;]*)/g)].map((match) => match);

function replaced(text: string, begin: number, end: number, by: string): string {
  return text.slice(0, begin) + by + text.slice(end);
}

/** A number near the one that is there, or one that no plant should have. */
const otherNumber = (unit: Unit, now: number): string =>
  unit() < 0.75 ? String(now * (0.5 + 1.5 * unit())) : pick(unit, NUMBERS);

/** An element two or three times, or not at all. */
function repeated(text: string, unit: Unit): string {
  const tag = pick(unit, [...text.matchAll(/<(shoot|phytomer|petiole|leaf|floral_bud|flower|internode)\b/g)]);
  const close = `</${tag[1]}>`;
  const end = text.indexOf(close, tag.index);
  if (end < 0) return text;
  const element = text.slice(tag.index, end + close.length);
  return replaced(text, tag.index, tag.index + element.length, element.repeat(pick(unit, [0, 2, 3])));
}

/** One random change: mostly of a number, else of an element, a tag, or of bytes. */
function mutated(text: string, unit: Unit): string {
  const at = Math.floor(unit() * text.length);
  const kind = unit();
  if (kind < 0.7) {
    const numbers = numbersOf(text);
    if (numbers.length === 0) return text;
    const number = pick(unit, numbers);
    const end = number.index + number[0].length;
    return replaced(text, end - (number[1] ?? "").length, end, otherNumber(unit, Number(number[1])));
  }
  if (kind < 0.85) return text.includes("<phytomer") ? repeated(text, unit) : text;
  if (kind < 0.89) return replaced(text, at, at, pick(unit, TEXTS));
  if (kind < 0.92) return text.slice(0, at);
  if (kind < 0.96) return replaced(text, at, Math.min(text.length, at + 1 + Math.floor(unit() * 200)), "");
  return replaced(text, at, at + 1, String.fromCharCode(Math.floor(unit() * 256)));
}

const SOUND = ["leaf_scale *= 1.2", "tortuosity += 2; internode_radius = 1.5", "petiole_length = uniform(0.5, 2)"];

/** None, a sound one, or a heap of parts. */
function expressionOf(unit: Unit): string | null {
  const kind = unit();
  if (kind < 0.5) return null;
  if (kind < 0.75) return pick(unit, SOUND);
  return Array.from({ length: Math.floor(unit() * 9) }, () => pick(unit, PARTS)).join("");
}

test(
  `${COUNT} mutated documents and expressions: a plant or a clear failure, and nothing is kept`,
  async () => {
    const unit = randomUnits(SEED);
    const outcomes = { built: 0, refused: 0, parsed: 0 };
    for (let i = 0; i < COUNT; i += 1) {
      const document = pick(unit, documents);
      let sim_xml = document.sim_xml;
      for (let n = Math.floor(unit() * 3); n >= 0; n -= 1) sim_xml = mutated(sim_xml, unit);
      const expression = expressionOf(unit);
      const payload = { ...document, sim_xml, expression };
      const say = () => `document ${i} of seed ${SEED}: ${JSON.stringify(payload).slice(0, 200_000)}`;
      const parse = unit() < 0.25;
      const started = performance.now();
      const { status, body } = await posted(made, `/api/plant/morph${parse ? "/parse" : ""}`, payload);
      if (performance.now() - started > SLOWEST_MS) throw new Error(`${performance.now() - started} ms: ${say()}`);
      if (status !== 200) throw new Error(`status ${status} ${JSON.stringify(body)}: ${say()}`);
      if (i % CONTRACT_EVERY === 0) (parse ? MorphParseResponse : MorphResponse).parse(body);
      if (body.success !== true) {
        outcomes.refused += 1;
        if (body.success !== false || String(body.error).length < 10) throw new Error(`no reason: ${say()}`);
      } else if (parse) outcomes.parsed += 1;
      else {
        outcomes.built += 1;
        const answer = body as unknown as MorphResponse;
        if (answer.triangle_count > 0) checkLengths(answer);
        await made.app.inject({ method: "DELETE", url: `/api/plant/session/${answer.session_id}` });
      }
    }
    console.log(`mutated documents: ${JSON.stringify(outcomes)}`);
    expect(outcomes.built).toBeGreaterThan(COUNT / 20);
    expect(outcomes.refused).toBeGreaterThan(COUNT / 10);
    expect(outcomes.parsed).toBeGreaterThan(COUNT / 100);
    made.deps.plants.close();
    await eventually(() => expect(addon.bulkBytesInUse()).toBe(0));
    const whole = await build(made, "/api/plant/generate", { plant_type: "bean", age: 5, random_seed: 1 });
    expect(whole.sim_xml).toBe(documents[0]?.sim_xml);
  },
  60_000 + COUNT * 200,
);
