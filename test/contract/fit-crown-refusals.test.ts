import { describe, expect, test } from "vitest";
import { CrownFailure } from "../../shared/contract/fit-crown.ts";
import { MAX_FITTED_CROWNS } from "../../shared/limits.ts";
import { boxTree, CROWN_HEAD, groundAt } from "../support/session/crowns.ts";
import { checked, cloud, failed, refusal, UNKNOWN } from "../support/session/session-edits.ts";
import { sessionTest } from "../support/session/session-test.ts";

const made = sessionTest();
const URL_ = "/api/fit/crown";
const failure = async (payload: object) => checked(CrownFailure, (await failed(made, URL_, payload)).tail);
const opened = async (rows: readonly string[]) => ({
  session_id: (await cloud(made, [CROWN_HEAD, ...rows])).session_id,
});
const TWO = [...boxTree(7, [0, 0, 0]), ...boxTree(3, [20, 5, 2]), ...groundAt([0, 0, 0])];

describe("failures", () => {
  test("no crown at all", async () => {
    const source = await opened(TWO);
    expect(await failure({ source, shape: "prism", tree_instance_ids: [99] })).toEqual({
      success: false,
      error: "No crown could be fitted",
      code: "invalid_argument",
      crowns: [],
      warnings: ["Tree 99: too few crown points (0); skipped."],
    });
  });

  test("a cloud whose points are all deleted", async () => {
    const { session_id } = await cloud(made, ["x y z", "0 0 0", "1 0 0"]);
    await made.remove(session_id, 0, 5);
    const { warnings } = await failure({ source: { session_id }, shape: "prism" });
    expect(warnings).toEqual(["Tree 0: too few crown points (0); skipped."]);
  });
});

describe("refusals before the stream", () => {
  test.each<[string, object, number, string | RegExp]>([
    ["an unknown session", { source: { session_id: "00000000" } }, ...UNKNOWN],
    ["a source without a session", { source: {} }, 400, /neither a session_id/],
    ["a translation of two", { source: { session_id: "S", translation: [1, 2] } }, 400, /translation/],
    ["an unknown shape", { shape: "sphere" }, 400, 'shape "sphere" is none of ellipsoid, prism, cone, alpha'],
    ["an alpha of 0", { shape: "alpha", alpha: 0 }, 400, /^alpha 0 is no radius/],
    ["an alpha", { alpha: 0.5 }, 400, "alpha 0.5 means nothing for the shape prism"],
    [
      "too many trees",
      { tree_instance_ids: Array.from({ length: MAX_FITTED_CROWNS + 1 }, (_, i) => i + 1) },
      400,
      /^tree_instance_ids has 10001 trees; one answer carries at most 10000/,
    ],
  ])("%s", async (_name, payload, status, detail) => {
    const { session_id } = await opened(TWO);
    const text = JSON.stringify({ source: { session_id }, shape: "prism", ...payload });
    const body = JSON.parse(text.replace('"S"', JSON.stringify(session_id))) as object;
    const wanted: unknown = typeof detail === "string" ? detail : expect.stringMatching(detail);
    expect(await refusal(made, URL_, body)).toEqual([status, wanted]);
  });

  test.each([
    ["no shape", { shape: undefined }],
    ["a tree 0", { tree_instance_ids: [0] }],
    ["half a tree", { tree_instance_ids: [1.5] }],
    ["a strictness that is no number", { strictness: "high" }],
    ["another baseline", { ground_baseline: "sea" }],
  ])("%s: 422", async (_name, payload) => {
    const source = await opened(TWO);
    expect((await refusal(made, URL_, { source, shape: "prism", ...payload }))[0]).toBe(422);
  });
});
