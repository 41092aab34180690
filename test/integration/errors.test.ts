import { beforeEach, expect, test } from "vitest";
import { z } from "zod";
import { httpStatus } from "../../backend/http/errors.ts";
import { PointList } from "../../shared/contract/geometry.ts";
import { Problem } from "../../shared/contract/problem.ts";
import { AppError, type ErrorCode, errorCodes } from "../../shared/errors.ts";
import { baseAppOfTest, type MadeApp } from "../support/app/base-app.ts";
import { stopwatch } from "../support/run/stopwatch.ts";

const Body = z.object({
  session_id: z.string(),
  radius_m: z.number().positive().default(1),
  points: PointList.optional(),
});
let made: MadeApp;
let thrown: unknown;
beforeEach(async () => {
  made = await baseAppOfTest({
    routes: [
      (app) => {
        app.post("/throw", async () => {
          throw thrown;
        });
        app.post("/body", { schema: { body: Body } }, async (request) => ({
          body: request.body,
          unknown: request.unknownKeys,
        }));
        app.get(
          "/broken",
          { schema: { response: { 200: z.object({ n: z.number() }) } } },
          async () => ({ n: "x" }) as never,
        );
        app.get("/query/:id", { schema: { querystring: z.object({ n: z.coerce.number().int() }) } }, async () => ({}));
      },
    ],
  });
});
const post = async (url: string, payload?: unknown) => {
  const answer = await made.app.inject({
    method: "POST",
    url,
    ...(payload === undefined ? {} : { payload: payload as object }),
  });
  return { status: answer.statusCode, body: answer.json() as Record<string, unknown> };
};

const statuses: Record<ErrorCode, number> = {
  validation: 422,
  invalid_argument: 400,
  invalid_file: 400,
  not_found: 404,
  conflict: 409,
  canceled: 499,
  forbidden: 403,
  unauthorized: 401,
  timeout: 408,
  out_of_memory: 503,
  no_space: 507,
  io: 500,
  unsupported: 400,
  internal: 500,
};
test.each(errorCodes.filter((code) => code !== "canceled"))(
  "%s has its status, for errors of the service and of the native core",
  async (code) => {
    expect(httpStatus[code]).toBe(statuses[code]);
    thrown = new AppError(code, "radius 0 is not positive", { limit: 3 });
    expect(await post("/throw")).toEqual({
      status: statuses[code],
      body: { detail: "radius 0 is not positive", code, limit: 3 },
    });
    thrown = Object.assign(new Error("line 7: not a number"), { code });
    expect(await post("/throw")).toEqual({ status: statuses[code], body: { detail: "line 7: not a number", code } });
  },
);

test("a cancel has one status and one sentence, whatever the error says", async () => {
  for (const error of [
    new AppError("canceled", "stopped"),
    Object.assign(new Error("stopped"), { code: "canceled" }),
  ]) {
    thrown = error;
    expect(await post("/throw")).toEqual({
      status: 499,
      body: { detail: "The run was canceled.", code: "canceled" },
    });
  }
});

test("a structured refusal has its own detail", async () => {
  const detail = { message: "this takes 3 h", cost_warning: { minutes: 180 } };
  thrown = new AppError("conflict", detail.message, { detail });
  const { status, body } = await post("/throw");
  expect([status, body]).toEqual([409, { detail, code: "conflict" }]);
  expect(Problem.parse(body)).toEqual(body);
});

test("any other error is a 500 with its own message, never empty, never a stack", async () => {
  for (const [value, detail] of [
    [new TypeError("x is not a function"), "x is not a function"],
    [new RangeError(), "RangeError"],
    [Object.assign(new Error("ENOENT: no such file"), { code: "ENOENT" }), "ENOENT: no such file"],
  ] as const) {
    thrown = value;
    expect(await post("/throw")).toEqual({ status: 500, body: { detail, code: "internal" } });
  }
});

test("422: one entry per issue, and a summary", async () => {
  const { status, body } = await post("/body", { radius_m: -1, points: [[1, 2]] });
  expect(status).toBe(422);
  expect(body).toEqual({
    code: "validation",
    message: expect.stringMatching(/^session_id: Field required; radius_m: .*; points: must be a list of \[x, y, z\]/),
    detail: [
      { type: "missing", loc: ["body", "session_id"], msg: "Field required", input: null },
      { type: "too_small", loc: ["body", "radius_m"], msg: expect.any(String), input: -1 },
      { type: "custom", loc: ["body", "points"], msg: expect.any(String), input: "list of 1" },
    ],
  });
  expect(Problem.parse(body)).toEqual(body);
  const query = await made.app.inject({ url: "/query/a?n=x" });
  expect([query.statusCode, (query.json() as { detail: [{ loc: unknown }] }).detail[0].loc]).toEqual([
    422,
    ["query", "n"],
  ]);
});

test("a body of the wrong kind is a 422, and huge values are not echoed", async () => {
  expect((await post("/body", [])).body).toMatchObject({ detail: [{ loc: ["body"], input: "list of 0" }] });
  expect((await post("/body")).body).toMatchObject({ detail: [{ loc: ["body"], msg: "Field required" }] });
  const { body } = await post("/body", { session_id: "a", radius_m: "9".repeat(1e6) });
  expect(JSON.stringify(body).length).toBeLessThan(1000);
});

test("unknown keys are accepted and listed in a warning", async () => {
  const { status, body } = await post("/body", { session_id: "a", radius: 3, extra: {} });
  expect([status, body]).toEqual([200, { body: { session_id: "a", radius_m: 1 }, unknown: ["radius", "extra"] }]);
});

test("an answer that violates its own contract is a 500, not a wrong answer", async () => {
  const answer = await made.app.inject({ url: "/broken" });
  expect([answer.statusCode, (answer.json() as { code: string }).code]).toEqual([500, "internal"]);
});

test("a million inline points are checked quickly, and one invalid point is found", () => {
  const points: unknown[] = Array.from({ length: 1_000_000 }, (_, i) => [i, i, i]);
  const stop = stopwatch();
  expect(PointList.safeParse(points).success).toBe(true);
  expect(stop().own_ms).toBeLessThan(500); // 20-60 ms
  for (const bad of [[1, 2, Number.NaN], [1, 2], [1, 2, 3, 4], null, "abc"]) {
    points[999_999] = bad;
    expect(PointList.safeParse(points).success).toBe(false);
  }
});
