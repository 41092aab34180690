import { expect, test } from "vitest";
import { LabelSummary } from "../../../shared/contract/cloud-session/label-summary.ts";
import { checked, cloud, lineCloud, stateOf } from "../../support/session/session-edits.ts";
import { sessionTest } from "../../support/session/session-test.ts";

const made = sessionTest();
const url = (id: string) => `/api/cloud/session/${id}/label_summary`;
const summary = async (id: string, query = "") => {
  const answer = await made.app.inject({ url: `${url(id)}${query}` });
  expect(answer.statusCode).toBe(200);
  return checked(LabelSummary, answer.json());
};

test("counts editable points per value, without misses and deleted points", async () => {
  const { session_id } = await lineCloud(made, [4, 4, 2, 6], 2);
  await made.remove(session_id, 3, 3);
  const before = await stateOf(made, session_id);
  expect(await summary(session_id, "?slug=class")).toEqual({
    session_id,
    slug: "class",
    class_counts: { 2: 1, 4: 2 },
    value_range: [2, 4],
    label_edit_count: 0,
  });
  expect(await stateOf(made, session_id)).toBe(before);
});

test("a missing column counts as all 0; the default is manual_class", async () => {
  const { session_id } = await lineCloud(made, [4, 4, 2], 2);
  expect(await summary(session_id)).toMatchObject({
    slug: "manual_class",
    class_counts: { 0: 3 },
    value_range: [0, 0],
  });
});

test("values are rounded; without editable points there are no classes", async () => {
  const { session_id } = await cloud(made, ["x y z score", "0 0 0 1.4", "1 0 0 0.6", "2 0 0 -3"]);
  expect(await summary(session_id, "?slug=score")).toMatchObject({
    class_counts: { "-3": 1, 1: 2 },
    value_range: [-3, 1],
  });
  const { session_id: sky } = await cloud(made, ["x y z is_miss", "0 0 900 1"]);
  for (const query of ["", "?slug=is_miss"]) {
    expect(await summary(sky, query)).toMatchObject({ class_counts: {}, value_range: [0, 0] });
  }
});

test("an unknown session is rejected", async () => {
  const answer = await made.app.inject({ url: url("00000000") });
  expect([answer.statusCode, answer.json().detail]).toEqual([404, "Cloud session not found: 00000000"]);
});
