import { createHash } from "node:crypto";
import { appendFileSync, mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { isSent } from "../../shared/contract/idle-keys.ts";
import { appOfTest, type TestApp } from "../support/app/app.ts";
import { documentOf, type JsonSchema, type OpenApi, operationsOf } from "../support/app/openapi.ts";
import { readRun } from "../support/app/run-body.ts";
import { type Place, placesOf, withValue } from "../support/requests/field-values.ts";
import { variantsOf } from "../support/requests/request-variants.ts";
import { isOptional, schemaAt, secondValues } from "../support/requests/second-values.ts";
import { stageOf } from "../support/requests/valid-requests.ts";

const ONLY = process.env.APP_TEST_FIELDS_OF ?? "";
const REPORT = process.env.APP_TEST_FIELDS_REPORT;
/** A name of a folder in requests, replaced by an empty one for each request. */
const OUT = "/the/output/folder";

interface Answer {
  readonly ok: boolean;
  readonly status: number;
  /** What the client sees, without what differs each time. */
  readonly text: string;
}

const valueAt = (request: unknown, place: Place): unknown =>
  place.reduce<unknown>((value, key) => (value as Record<string | number, unknown> | undefined)?.[key], request);

/** Ids, times and temporary folders have other values in every run. */
function lasting(text: string, made: TestApp, ids: readonly string[]): string {
  let out = text.replaceAll(made.folder, "<folder>");
  for (const [i, id] of ids.entries()) out = out.replaceAll(id, `<id${i}>`);
  return out
    .replace(/(?<=["/_-])[0-9a-f]{8}(?:[0-9a-f]{24}|[0-9a-f]{32})?(?=["/._])/g, "<hex>")
    .replace(/"(elapsed_s|seconds|[a-z_]+_ms|expires_s)":\s*[-0-9.e+]+/g, '"$1":0');
}

function bodyText(body: Buffer): string {
  if (!body.subarray(0, 8).includes("PHP1")) return body.toString("latin1").trim();
  const { outcome } = readRun(body);
  if (outcome.kind === "json") return JSON.stringify(outcome.value);
  if (outcome.kind === "failed") return `failed ${JSON.stringify(outcome)}`;
  if (outcome.kind !== "frame") return JSON.stringify(outcome);
  return body.subarray(body.indexOf("PHB1")).toString("latin1");
}

/** Files below a folder, with what is in them. */
function filesText(folder: string): string {
  const names = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return names
    .map((entry) =>
      [
        entry.name,
        createHash("sha1")
          .update(readFileSync(join(entry.parentPath, entry.name)))
          .digest("hex")
          .slice(0, 9),
      ].join("="),
    )
    .sort()
    .join(" ");
}

let outputs = 0;

async function answerTo(made: TestApp, path: string, request: object, session: string): Promise<Answer> {
  const edits = path.includes("{id}") || JSON.stringify(request).includes(session);
  const copy = edits && (await made.app.inject({ method: "POST", url: `/api/cloud/session/${session}/duplicate` }));
  const id = copy ? (copy.json().duplicate.session_id as string) : "none";
  const out = join(made.folder, `out${outputs++}`);
  mkdirSync(out);
  const payload = JSON.stringify(request).replaceAll(session, id).replaceAll(OUT, out);
  const answer = await made.app.inject({
    method: "POST",
    url: path.replace("{id}", id),
    headers: { "content-type": "application/json" },
    payload,
  });
  const { statusCode: status, rawPayload } = answer;
  const text = bodyText(rawPayload);
  const ok = status === 200 && !/^failed|"success":\s*false/.test(text) && !text.includes('"error":"');
  let state = "";
  if (path.includes("{id}")) {
    const saved = await made.app.inject({
      method: "POST",
      url: "/api/pointcloud/export",
      payload: { source: { session_id: id, want_colors: true }, format: "las" },
    });
    state = createHash("sha1").update(bodyText(saved.rawPayload)).digest("hex").slice(0, 9);
  }
  const files = filesText(out);
  if (copy) await made.app.inject({ method: "DELETE", url: `/api/cloud/session/${id}` });
  rmSync(out, { recursive: true });
  made.log.length = 0;
  const warned = String(answer.headers["x-warnings"] ?? "");
  return { ok, status, text: lasting([text, warned, files].join("\n"), made, [id, out]).concat(state) };
}

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

async function effectOf(
  made: TestApp,
  { path, request, session }: { path: string; request: object; session: string },
  place: Place,
  values: readonly unknown[],
  plain: Answer,
): Promise<{ effect: Effect; words: string }> {
  let effect: Effect = "untried";
  let words = "";
  const better = (next: Effect) =>
    ["untried", "refused", "none", "echo", "result"].indexOf(next) >
    ["untried", "refused", "none", "echo", "result"].indexOf(effect);
  for (const value of values) {
    const answer = await answerTo(made, path, withValue(request, place, value) as object, session);
    let next: Effect = "refused";
    if (answer.ok) {
      next = "none";
      if (answer.text !== plain.text) next = "echo";
      if (withoutEcho(answer.text, place) !== withoutEcho(plain.text, place)) next = "result";
    } else if (words === "") words = answer.text.slice(0, 200);
    if (better(next)) effect = next;
    if (effect === "result") break;
  }
  return { effect, words };
}

test("every optional field does something, or the answer says that it does not", { timeout: 3_600_000 }, async () => {
  const made = await appOfTest();
  const document: OpenApi = await documentOf(made);
  const { session, requests } = await stageOf(made);
  const lines: string[] = [];
  for (const { path, op } of operationsOf(document)) {
    const schema: JsonSchema | undefined = op.requestBody?.content["application/json"]?.schema;
    const base = requests[path];
    if (!schema || !base || !path.includes(ONLY)) continue;
    for (const [name, request] of Object.entries(variantsOf(path, base, session))) {
      const plain = await answerTo(made, path, request, session);
      const again = await answerTo(made, path, request, session);
      if (!plain.ok) lines.push(`BASE ${path} (${name}): ${plain.status} ${plain.text.slice(0, 300)}`);
      if (plain.text !== again.text) lines.push(`VARIES ${path} (${name})`);
      for (const place of placesOf(schema, document)) {
        if (!isOptional(schema, place, document)) continue;
        if (place.length > 1 && !isSent(valueAt(request, place.slice(0, -1)))) continue;
        const field = schemaAt(schema, place, document);
        if (!field) continue;
        const values = secondValues(field, document, valueAt(request, place)).slice(0, 12);
        const began = performance.now();
        const { effect, words } = await effectOf(made, { path, request, session }, place, values, plain);
        const line = `${effect} ${path} (${name}) ${place.join(".")} ${Math.round(performance.now() - began)} ms ${effect === "refused" ? words.replaceAll("\n", " ") : ""}`;
        lines.push(line);
        if (REPORT) appendFileSync(REPORT, `${line}\n`);
      }
    }
  }
  expect(lines.filter((line) => !/^(result)/.test(line))).toEqual([]);
});
