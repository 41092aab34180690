import { beforeAll, describe, expect, test } from "vitest";
import { MorphParseResponse, MorphResponse } from "../../shared/contract/plant-morph.ts";
import { build, checkLengths, posted } from "../support/session/plants.ts";
import { sessionTest } from "../support/session/session-test.ts";

const made = sessionTest();
const BEAN = { plant_type: "bean", age: 20, random_seed: 1 };
let document = "";
let whole: Awaited<ReturnType<typeof build>>;
beforeAll(async () => {
  whole = await build(made, "/api/plant/generate", BEAN);
  document = whole.sim_xml ?? "";
});

const parse = async (payload: object) => {
  const { status, body } = await posted(made, "/api/plant/morph/parse", { plant_type: "bean", ...payload });
  expect(status, JSON.stringify(body).slice(0, 300)).toBe(200);
  return MorphParseResponse.parse(body);
};
const morph = async (payload: object) => {
  const { status, body } = await posted(made, "/api/plant/morph", { plant_type: "bean", ...payload });
  expect(status, JSON.stringify(body).slice(0, 300)).toBe(200);
  const answer = MorphResponse.parse(body);
  if (answer.success) checkLengths(answer);
  return answer;
};
/** All numbers of an element of the document. */
const values = (text: string | null, tag: string) =>
  [...(text ?? "").matchAll(new RegExp(`<${tag}>([^<]*)</${tag}>`, "g"))].map(([, value]) => Number(value));

describe("parse", () => {
  test("the document as tables of texts, with age and place", async () => {
    const found = await parse({ sim_xml: document });
    expect(found).toMatchObject({ success: true, error: null, plant_type: "bean", plant_age: 20, edits: [] });
    expect(found.base_position?.split(" ").map(Number)).toEqual([0, 0, 0]);
    expect(found.shoots[0]).toMatchObject({ shoot_id: 0, parent_shoot_id: -1 });
    const phytomers = found.shoots.flatMap((shoot) => shoot.phytomers);
    expect(phytomers.map(({ internode }) => Number(internode.internode_length))).toEqual(
      values(document, "internode_length"),
    );
    const leaves = phytomers.flatMap(({ petioles }) => petioles.flatMap((petiole) => petiole.leaves));
    expect(leaves.map(({ leaf_scale }) => Number(leaf_scale))).toEqual(values(document, "leaf_scale"));
    for (const { internode } of phytomers) expect(typeof internode.internode_length).toBe("string");
  });

  test("parameters, sliders and edits", async () => {
    const found = await parse({
      sim_xml: document,
      expression: "leaf_scale *= 1.2; insertion_angle_tip = uniform(30, 50)",
    });
    expect(found.edits).toEqual([
      { shoot_type: null, param: "leaf_scale", op: "*=", value: 1.2 },
      {
        shoot_type: null,
        param: "insertion_angle_tip",
        op: "=",
        value: { distribution: "uniform", parameters: [30, 50] },
      },
    ]);
    const [type] = Object.keys(found.distribution_params);
    expect(found.distribution_params[type ?? ""]).toMatchObject({
      internode_length_max: { distribution: expect.any(String), parameters: expect.any(Array) },
      flowers_require_dormancy: false,
    });
    const scale = found.sliders.find(({ param }) => param === "leaf_scale");
    expect(scale).toEqual({ shoot_type: null, param: "leaf_scale", default: 1, min: 0.1, max: 3, step: 0.01 });
    const length = found.sliders.find(({ param }) => param === "internode_length_max");
    expect(length?.max).toBeCloseTo(3 * (length?.default ?? 0), 12);
  });

  test("an unknown species: the document all the same", async () => {
    const found = await parse({ sim_xml: document, plant_type: "triffid" });
    expect(found).toMatchObject({ success: true, plant_age: 20, distribution_params: {}, sliders: [] });
    expect(found.warnings?.join()).toContain("triffid");
  });

  test.each([
    ["leaf_scale = 5", 14, "from 0.1 to 3"],
    ["size *= 2", 1, '"size" is none of'],
    ["max_nodes = 3", 1, "read-only"],
    ["trunk9.leaf_scale = 1", 1, 'no shoot type "trunk9"'],
    ["leaf_scale = ", 14, "a number is expected"],
    ["tortuosity = -1", 14, "from 0 to"],
  ])("%s names column %d", async (expression, column, rule) => {
    const found = await parse({ sim_xml: document, expression });
    expect(found).toMatchObject({ success: false, shoots: [], edits: [], plant_age: null });
    expect(found.error).toContain(`column ${column}: `);
    expect(found.error).toContain(rule);
  });
});

describe("morph", () => {
  test("without an edit: the same plant, in a session of its own", async () => {
    const same = await morph({ sim_xml: document });
    expect(same).toMatchObject({ success: true, current_age: 20, height: whole.height });
    expect(same.vertices).toEqual(whole.vertices);
    expect(same.session_id).not.toBe(whole.session_id);
    expect(same.sim_xml?.trimEnd()).toBe(document.trimEnd());
  });

  test("a scale acts on its values alone", async () => {
    const big = await morph({ sim_xml: document, expression: "leaf_scale *= 1.5" });
    expect(values(big.sim_xml, "leaf_scale")).toEqual(values(document, "leaf_scale").map((value) => value * 1.5));
    expect(values(big.sim_xml, "internode_length")).toEqual(values(document, "internode_length"));
    expect(big.triangle_count).toBe(whole.triangle_count);
    expect(big.vertices).not.toEqual(whole.vertices);
  });

  test("= is absolute, relative to the species' default", async () => {
    const { sliders } = await parse({ sim_xml: document });
    const standard = sliders.find(({ param }) => param === "internode_length_max");
    const target = `${standard?.shoot_type}.internode_length_max = ${2 * (standard?.default ?? 0)}`;
    const tall = await morph({ sim_xml: document, expression: target });
    const ratio = (values(tall.sim_xml, "internode_length")[0] ?? 0) / (values(document, "internode_length")[0] ?? 1);
    expect(ratio).toBeCloseTo(2, 9);
    expect(tall.height).toBeGreaterThan(whole.height ?? 0);
  });

  test("a drawn value is the same each time", async () => {
    const wish = { sim_xml: document, expression: "petiole_length *= uniform(0.5, 1.5)" };
    const [a, b] = [await morph(wish), await morph(wish)];
    expect(a.vertices).toEqual(b.vertices);
    expect(new Set(values(a.sim_xml, "petiole_length")).size).toBeGreaterThan(3);
  });

  test("an edited document is built as edited, and its plant grows on", async () => {
    const edited = document.replace(/<leaf_scale>[^<]*</, "<leaf_scale>0.5<");
    const answer = await morph({ sim_xml: edited });
    expect(values(answer.sim_xml, "leaf_scale")[0]).toBe(0.5);
    const { status, body } = await posted(made, `/api/plant/session/${answer.session_id}/advance`, { dt: 5 });
    expect([status, body.success, body.current_age]).toEqual([200, true, 25]);
  });

  test("elements that are unknown here stay in the document", async () => {
    const marked = document.replace("<phytomer>", "<phytomer><mark><a>1</a></mark>");
    expect((await morph({ sim_xml: marked })).sim_xml).toMatch(/<mark>\s*<a>1<\/a>\s*<\/mark>/);
  });

  test("a document above 1 MiB", async () => {
    const padded = `${document}${" ".repeat(2_000_000)}`;
    expect((await morph({ sim_xml: padded })).vertices).toEqual(whole.vertices);
    expect((await parse({ sim_xml: padded })).plant_age).toBe(20);
  });
});

describe("hostile documents are failures, never 500", () => {
  const bomb = `<?xml version="1.0"?><!DOCTYPE r [<!ENTITY a "${"a".repeat(1000)}"><!ENTITY b "${"&a;".repeat(1000)}">]><r>&b;</r>`;
  test.each([
    ["empty", ""],
    ["no XML", "hello"],
    ["no plant", "<r/>"],
    ["an entity bomb", bomb],
    [
      "an external entity",
      '<!DOCTYPE r [<!ENTITY x SYSTEM "file:///etc/passwd">]><r><plant_instance>&x;</plant_instance></r>',
    ],
    ["a deep one", `${"<a>".repeat(100_000)}`],
    ["a cut one", "CUT"],
    ["NaN", "NAN"],
    ["infinity", "INF"],
    ["a cyclic parent", "CYCLE"],
  ])("%s", async (_name, text) => {
    const texts: Record<string, string> = {
      CUT: document.slice(0, document.length / 2),
      NAN: document.replace(/<internode_length>[^<]*</, "<internode_length>nan<"),
      INF: document.replace(/<internode_radius>[^<]*</, "<internode_radius>1e999<"),
      CYCLE: document.replace("<parent_shoot_ID>-1<", "<parent_shoot_ID>0<"),
    };
    const sim_xml = texts[text] ?? text;
    expect(sim_xml).not.toBe(document);
    const [parsed, built] = [await parse({ sim_xml }), await morph({ sim_xml })];
    for (const answer of [parsed, built]) {
      expect(answer.success).toBe(false);
      expect(answer.error?.length).toBeGreaterThan(5);
    }
    expect(built.session_id).toBeNull();
    expect(built.sim_xml).toBe(sim_xml);
  });

  test("an unknown type", async () => {
    expect(await morph({ sim_xml: document, plant_type: "triffid" })).toMatchObject({
      success: false,
      code: "not_found",
    });
  });

  test("a document that is no text is no request", async () => {
    for (const sim_xml of [5, null, ["<r/>"], undefined])
      expect((await posted(made, "/api/plant/morph", { plant_type: "bean", sim_xml })).status).toBe(422);
  });

  test("300 documents with changed bytes are built or refused", async () => {
    let seed = 7;
    const next = (most: number) => {
      seed = (seed * 48_271) % 2_147_483_647;
      return seed % most;
    };
    const small = (await build(made, "/api/plant/generate", { ...BEAN, age: 3 })).sim_xml ?? "";
    const cuts = ["<", ">", "/", "-", "9", "e9", " ", "&lt;", "\u0000", "nan", "</phytomer>", "<leaf>"];
    let refused = 0;
    for (let i = 0; i < 300; i += 1) {
      let text = small;
      for (let k = 0; k <= next(3); k += 1) {
        const at = next(text.length);
        text = text.slice(0, at) + (cuts[next(cuts.length)] ?? "") + text.slice(at + next(3));
      }
      const { status, body } = await posted(made, "/api/plant/morph/parse", { plant_type: "bean", sim_xml: text });
      expect(status).toBe(200);
      refused += body.success === false ? 1 : 0;
    }
    expect(refused).toBeGreaterThan(100);
  }, 60_000);
});
