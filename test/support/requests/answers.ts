// Answers to a request that compare: each on a copy of the session and into an empty folder, without what differs each time.
import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { TestApp } from "../app/app.ts";
import { readRun } from "../app/run-body.ts";
import type { Place } from "./field-values.ts";

/** A name of a folder in requests, replaced by an empty one for each request. */
const OUT = "/the/output/folder";

export interface Answer {
  readonly ok: boolean;
  readonly status: number;
  /** What the client sees, without what differs each time. */
  readonly text: string;
}

export const valueAt = (request: unknown, place: Place): unknown =>
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

export async function answerTo(made: TestApp, path: string, request: object, session: string): Promise<Answer> {
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
