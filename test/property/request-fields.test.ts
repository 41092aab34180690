import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { appOfTest, type TestApp } from "../support/app/app.ts";
import { documentOf, operationsOf } from "../support/app/openapi.ts";
import { EDGE_VALUES, type Place, placesOf, withValue } from "../support/requests/field-values.ts";
import { stageOf } from "../support/requests/valid-requests.ts";
import { stopwatch } from "../support/run/stopwatch.ts";

/** Cases of a run; 0 = all of them. */
const CASES = Number(process.env.APP_TEST_FIELDS ?? 150);
const ONLY = process.env.APP_TEST_FIELDS_OF ?? "";
/** Which cases of the sample; the same ones each time without it. */
const SEED = Number(process.env.APP_TEST_SEED ?? 0);
/** A file that lists the cases done: a run that reads it goes on behind the last one, also if that ended the process. */
const PROGRESS = process.env.APP_TEST_FIELDS_PROGRESS;
/** Cases i with i % of = at, of "at/of": parts of a run for several processes. */
const [PART = 0, PARTS = 1] = (process.env.APP_TEST_FIELDS_PART ?? "0/1").split("/").map(Number);
/** The part of the machine left out. */
const SLOW_MS = 20_000;
const HOLE = "a value to be replaced";
/** Memory and disk may be short; anything else that ends with 5xx is a fault of the service. */
const SHORT = new Set(["insufficient_memory", "insufficient_disk", "cuda_out_of_memory"]);

interface Case {
  readonly path: string;
  readonly place: Place;
  readonly value: string;
}

/** What is wrong with an answer; null: nothing. */
function fault(status: number, body: string, log: TestApp["log"]): string | null {
  const coded = /"code":\s*"([a-z_]+)"/.exec(body.slice(-20_000))?.[1] ?? "";
  if (coded === "internal") return `internal: ${log.findLast(({ level }) => level >= 50)?.msg ?? ""}`;
  if (status >= 500 && !SHORT.has(coded)) return `status ${status}`;
  if (status >= 400 && !/"(detail|message)":\s*["[]/.test(body)) return "no words about what is wrong";
  if (/"success":\s*false/.test(body.slice(-20_000)) && !/"(error|detail)":\s*"(?:[^"\\]|\\.){8}/.test(body))
    return "no error text";
  return null;
}

/** The first case that is not done, where a run that ended early began it; its fault is noted here. */
function goneThrough(): { from: number; faults: string[] } {
  if (!PROGRESS || !existsSync(PROGRESS)) return { from: 0, faults: [] };
  const lines = readFileSync(PROGRESS, "utf8").split("\n");
  const begun = lines.findLast((line) => line.startsWith("begun ")) ?? "begun -1";
  const [, number = "-1", ...named] = begun.split(" ");
  const faults = lines.filter((line) => line.startsWith("fault ")).map((line) => line.slice(6));
  if (lines.findLast((line) => line.startsWith("done ")) !== `done ${number}`)
    faults.push(`${named.join(" ")}: the process ended`);
  return { from: Number(number) + 1, faults };
}
const note = (line: string) => {
  if (PROGRESS) appendFileSync(PROGRESS, `${line}\n`);
};

test("every field at and beyond its edges: an answer or a clear refusal, never a fault of the service", {
  timeout: CASES === 0 ? 86_400_000 : 120_000,
}, async () => {
  const made = await appOfTest();
  const document = await documentOf(made);
  const { session, requests } = await stageOf(made);
  const cases = operationsOf(document).flatMap(({ path, op }): Case[] => {
    const schema = op.requestBody?.content["application/json"]?.schema;
    if (!schema || !requests[path] || !path.includes(ONLY)) return [];
    return placesOf(schema, document).flatMap((place) => EDGE_VALUES.map((value) => ({ path, place, value })));
  });
  const step = CASES === 0 ? 1 : Math.max(1, Math.floor(cases.length / CASES));
  const start = SEED % step;
  const { from, faults } = goneThrough();
  for (let i = start; i < cases.length; i += step) {
    if (i < from || i % PARTS !== PART) continue;
    const { path, place, value } = cases[i] as Case;
    const named = `${path} ${place.join(".")} = ${value.slice(0, 40)}`;
    note(`begun ${i} ${named}`);
    const payload = JSON.stringify(withValue(requests[path], place, HOLE)).replace(`"${HOLE}"`, value);
    const edits = path.includes("{id}") || payload.includes(session);
    const copy = edits && (await made.app.inject({ method: "POST", url: `/api/cloud/session/${session}/duplicate` }));
    const id = copy ? (copy.json().duplicate.session_id as string) : "";
    const stop = stopwatch();
    const answer = await made.app.inject({
      method: "POST",
      url: path.replace("{id}", id),
      headers: { "content-type": "application/json" },
      payload: payload.replaceAll(session, id),
    });
    const took = stop().own_ms;
    const wrong = fault(answer.statusCode, answer.body, made.log);
    const found = [...(wrong ? [wrong] : []), ...(took > SLOW_MS ? [`${Math.round(took)} ms`] : [])];
    for (const each of found) note(`fault ${named}: ${each}`);
    faults.push(...found.map((each) => `${named}: ${each}`));
    note(`done ${i}`);
    if (copy) await made.app.inject({ method: "DELETE", url: `/api/cloud/session/${id}` });
    made.log.length = 0;
  }
  expect(cases.length).toBeGreaterThan(ONLY === "" ? 5000 : 0);
  expect(faults).toEqual([]);
});
