import { expect } from "vitest";
import type { z } from "zod";
import type { Job } from "../../../backend/jobs/job.ts";
import { type Addon, addon } from "../../../backend/native/core/addon.ts";
import type { NativeColumn, NativeJob } from "../../../backend/native/core/handles.ts";
import { readNumbers } from "../../../backend/services/files/preview/values.ts";
import type { CloudState } from "../../../backend/sessions/cloud-session.ts";
import type { CreateSessionTail } from "../../../shared/contract/cloud-session/create.ts";
import type { BoxRegion } from "../../../shared/contract/region.ts";
import { create, refused, run, type Scan, scanFile, type TestApp } from "../app/app.ts";
import { octreePoints } from "../octree/octree-folder.ts";

/** An answer that has every key of its contract and no other. */
export function checked<S extends z.ZodType>(schema: S, value: unknown): z.output<S> {
  const parsed = schema.parse(value);
  expect(value).toEqual(parsed); // keys the schema does not know would be missing on the right
  return parsed;
}

/** A plain JSON answer, checked against its contract. */
export async function answered<S extends z.ZodType>(made: TestApp, schema: S, url: string, payload?: object) {
  const answer = await made.app.inject({ method: "POST", url, ...(payload ? { payload } : {}) });
  expect([answer.statusCode, answer.statusCode === 200 ? "" : answer.body]).toEqual([200, ""]);
  return checked(schema, answer.json());
}

/** The JSON tail of a run, checked against its contract. */
export async function tail<S extends z.ZodType>(made: TestApp, schema: S, url: string, payload: object = {}) {
  return (await streamed(made, schema, url, payload)).tail;
}

/** Markers as [progress, message] and the checked tail of a run. */
export async function streamed<S extends z.ZodType>(made: TestApp, schema: S, url: string, payload: object = {}) {
  const { outcome, markers } = await run(made, url, payload);
  if (outcome.kind !== "json") throw new Error(`${url}: ${JSON.stringify(outcome)}`);
  const stages = markers.map(({ progress, message }) => [progress, message] as const);
  return { stages, tail: checked(schema, outcome.value) };
}

/** The tail and the sentence of a run that fails after its stream has opened. */
export async function failed(made: TestApp, url: string, payload: object = {}) {
  const { outcome } = await run(made, url, payload);
  if (outcome.kind !== "failed") throw new Error(`${url} did not fail: ${JSON.stringify(outcome).slice(0, 500)}`);
  return { error: outcome.error, tail: outcome.tail };
}

/** [status, sentence] of a refusal before any run. */
export async function refusal(made: TestApp, url: string, payload: object): Promise<[number, unknown]> {
  const { status, detail } = await refused(made, url, payload);
  return [status, detail];
}

/** The one answer to an id that is not open. */
export const UNKNOWN: [number, string] = [404, "Cloud session not found: 00000000"];

/** A session of a scan. */
export const cloud = (made: TestApp, scan: Scan, wishes: object = {}): Promise<CreateSessionTail> =>
  create(made, scanFile(made, scan), wishes);

/** Hits at x = 0, 1, 2, ... on the x axis with these classes, then misses 900 m up with class 9. */
export function lineRows(classes: readonly number[], misses = 0): string[] {
  const sky = Array.from({ length: misses }, (_, i) => `${i} 0 900 9 1`);
  return ["x y z class is_miss", ...classes.map((value, i) => `${i} 0 0 ${value} 0`), ...sky];
}

/** A session of those points. */
export const lineCloud = (made: TestApp, classes: readonly number[], misses = 0, wishes: object = {}) =>
  cloud(made, lineRows(classes, misses), wishes);

/** A box round the hits of a line cloud with from <= x <= to; misses are in it, too. */
export const slab = (from: number, to: number): BoxRegion => ({ kind: "box", min: [from, -1, -1], max: [to, 1, 1000] });

export const stateOf = async (made: TestApp, id: string): Promise<CloudState> =>
  (await made.deps.sessions.get(id)).state;

/** Every value of a native column as a number. */
export function numbersOf(column: NativeColumn): number[] {
  const values = readNumbers(column);
  return Array.from(values.slice(0, values.length), Number);
}

/** Every value of a session's column, deleted rows included; undefined when it has none of that name. */
export async function columnOf(made: TestApp, id: string, key: string): Promise<number[] | undefined> {
  const column = (await stateOf(made, id)).columns.get(key);
  return column && numbersOf(column.native);
}

/** x of every row. */
export async function xs(made: TestApp, id: string): Promise<number[]> {
  return ((await columnOf(made, id, "positions")) ?? []).filter((_, i) => i % 3 === 0);
}

/** x of the rows that are not deleted. */
export async function survivingXs(made: TestApp, id: string): Promise<number[]> {
  const deleted = await columnOf(made, id, "deleted");
  return (await xs(made, id)).filter((_, row) => !deleted?.[row]);
}

/** x of the points of an octree, ascending. */
export const octreeXs = ({ octrees }: TestApp, id: string): number[] =>
  octreePoints(octrees, id)
    .map(([x]) => x ?? Number.NaN)
    .sort((a, b) => a - b);

/** Runs `body`; in the middle of its nth call of a native op, `act` happens. */
export async function amid<T>(
  op: keyof Addon,
  act: () => Promise<unknown>,
  body: () => Promise<T>,
  call = 1,
): Promise<T> {
  const original = addon[op] as unknown as (...args: unknown[]) => NativeJob<unknown>;
  let acted = false;
  let calls = 0;
  const restore = () => Object.assign(addon, { [op]: original });
  const counting = (...args: unknown[]): NativeJob<unknown> => {
    calls += 1;
    if (calls < call) return original(...args);
    restore();
    acted = true;
    const job = original(...args);
    const promise = job.promise.then(async (value) => {
      await act();
      return value;
    });
    return { promise, cancel: () => job.cancel(), progress: () => job.progress() };
  };
  Object.assign(addon, { [op]: counting });
  try {
    const value = await body();
    expect(acted, `${op} was called`).toBe(true);
    return value;
  } finally {
    restore();
  }
}

/** Runs `body`, one run; in the middle of its first call of a native op, it is canceled, or what `how` does to it. */
export async function canceledAmid<T>(
  { deps: { jobs } }: TestApp,
  op: keyof Addon,
  body: () => Promise<T>,
  how: (job: Job) => Promise<unknown> = async (job) => job.cancel(),
): Promise<T> {
  const run = jobs.run.bind(jobs);
  let current: Job | undefined;
  jobs.run = (work, options) =>
    run(work, {
      ...options,
      onStart: (job) => {
        current = job;
        options?.onStart?.(job);
      },
    });
  try {
    return await amid(op, async () => current && how(current), body);
  } finally {
    jobs.run = run;
  }
}
