import { appendFileSync } from "node:fs";
import { expect, test } from "vitest";
import { isSent } from "../../shared/contract/idle-keys.ts";
import { appOfTest, type TestApp } from "../support/app/app.ts";
import { documentOf, type JsonSchema, type OpenApi, operationsOf } from "../support/app/openapi.ts";
import { type Answer, answerTo, valueAt } from "../support/requests/answers.ts";
import { type Place, placesOf, withValue } from "../support/requests/field-values.ts";
import { variantsOf } from "../support/requests/request-variants.ts";
import { isOptional, schemaAt, secondValues } from "../support/requests/second-values.ts";
import { UNSEEN_EFFECTS } from "../support/requests/unseen-effects.ts";
import { stageOf } from "../support/requests/valid-requests.ts";

/** A part of a path: the endpoints that are looked at; "" = all of them, which takes a quarter of an hour. */
const ONLY = process.env.APP_TEST_FIELDS_OF ?? "/api/triangulate/lidar";
const REPORT = process.env.APP_TEST_FIELDS_REPORT;
/** An answer without the value of a field that only comes back in it. */
const withoutEcho = (text: string, place: Place): string =>
  text.replace(
    new RegExp(
      `"${String(place.findLast((key) => typeof key === "string"))}":\\s*(\\[[^\\]]*\\]|"[^"]*"|[-0-9.e+a-z]+)`,
      "g",
    ),
    "",
  );

/** How far a field goes: changes the result, only comes back, changes nothing, or no second value was accepted. */
type Effect = "result" | "echo" | "none" | "refused" | "untried";

const RANK: readonly Effect[] = ["untried", "refused", "none", "echo", "result"];

async function effectOf(
  made: TestApp,
  { path, request, session }: { path: string; request: object; session: string },
  place: Place,
  values: readonly unknown[],
  plain: Answer,
): Promise<Effect> {
  let effect: Effect = "untried";
  for (const value of values) {
    const answer = await answerTo(made, path, withValue(request, place, value) as object, session);
    let next: Effect = "refused";
    if (answer.ok) {
      next = "none";
      if (answer.text !== plain.text) next = "echo";
      if (withoutEcho(answer.text, place) !== withoutEcho(plain.text, place)) next = "result";
    }
    if (RANK.indexOf(next) > RANK.indexOf(effect)) effect = next;
    if (effect === "result") break;
  }
  return effect;
}

/** What a field tells about the data instead of asking for something, or what only a file or a long run would need. */
const FACT =
  /(^|\.)(want_colors|want_extras|source_path|file_path|ascii_format|include_misses|allow_file_source|acknowledge_cost|overwrite)$/;

/** The best effect of each optional field over the variants of its request. */
async function effectsOf(made: TestApp, only: string): Promise<Map<string, Effect>> {
  const document: OpenApi = await documentOf(made);
  const { session, requests } = await stageOf(made);
  const best = new Map<string, Effect>();
  for (const { path, op } of operationsOf(document)) {
    const schema: JsonSchema | undefined = op.requestBody?.content["application/json"]?.schema;
    const base = requests[path];
    if (!schema || !base || !path.includes(only)) continue;
    for (const request of Object.values(variantsOf(path, base, session))) {
      const plain = await answerTo(made, path, request, session);
      for (const place of placesOf(schema, document)) {
        const name = place.map((key) => (typeof key === "number" ? 0 : key)).join(".");
        if (!isOptional(schema, place, document) || best.get(`${path} ${name}`) === "result") continue;
        if (place.length > 1 && !isSent(valueAt(request, place.slice(0, -1)))) continue;
        const field = schemaAt(schema, place, document);
        if (!field) continue;
        const values = secondValues(field, document, valueAt(request, place)).slice(0, 12);
        const effect = await effectOf(made, { path, request, session }, place, values, plain);
        const before = best.get(`${path} ${name}`) ?? "untried";
        best.set(`${path} ${name}`, RANK.indexOf(effect) > RANK.indexOf(before) ? effect : before);
        if (REPORT) appendFileSync(REPORT, `${effect} ${path} ${name}\n`);
      }
    }
  }
  return best;
}

test("every optional field changes something, or the answer says that it does not", {
  timeout: 7_200_000,
}, async () => {
  const made = await appOfTest();
  const silent = [...(await effectsOf(made, ONLY))].flatMap(([field, effect]) => {
    const [path = "", name = ""] = field.split(" ");
    const isKnown = FACT.test(name) || UNSEEN_EFFECTS[path]?.includes(name);
    return isKnown || effect === "result" || effect === "echo" ? [] : [`${effect}: ${field}`];
  });
  expect(silent).toEqual([]);
});
