import { expect, test } from "vitest";
import { ExtractByColumnTail } from "../../../shared/contract/cloud-session/extract-by-column.ts";
import { create } from "../../support/app/app.ts";
import { backfilled, backfillUrl } from "../../support/session/backfill.ts";
import { COLUMNS, direction, expectTheMisses, isMiss, MISSES, ROWS } from "../../support/session/miss-raster.ts";
import { refusal, stateOf, streamed } from "../../support/session/session-edits.ts";
import { sessionTest } from "../../support/session/session-test.ts";

/** Recovering the misses of a file of several scans: of each scan, from its own position. */

const made = sessionTest();
type Triple = readonly [number, number, number];
const ORIGINS: readonly Triple[] = [
  [100, 200, 10],
  [130, 205, 11],
];

/** A PTX scan whose empty cells are misses without a direction. */
function scan(origin: Triple): string {
  const cells = Array.from({ length: ROWS * COLUMNS }, (_, i) => {
    const [row, column] = [i % ROWS, Math.floor(i / ROWS)];
    const range = isMiss(row, column) ? 0 : 4 + (i % 5);
    return `${direction(row, column)
      .map((d) => range * d)
      .join(" ")} 0.5`;
  });
  const axes = ["1 0 0", "0 1 0", "0 0 1"];
  const matrix = [...axes.map((axis) => `${axis} 0`), `${origin.join(" ")} 1`];
  return [COLUMNS, ROWS, origin.join(" "), ...axes, ...matrix, ...cells].join("\n");
}

const twoScans = async (origins = ORIGINS) =>
  (await create(made, made.file("two.ptx", `${origins.map(scan).join("\n")}\n`))).session_id;
const children = async (id: string, more: object = {}) =>
  (
    await streamed(made, ExtractByColumnTail, `/api/cloud/session/${id}/extract_by_column`, {
      slug: "scan_index",
      exclude_values: [],
      ...more,
    })
  ).tail.children;

test.each([false, true])("of a scan that was extracted by scan_index (with all misses: %s)", async (include_misses) => {
  const made_of = await children(await twoScans(), { include_misses });
  expect(made_of.map(({ value }) => value)).toEqual([0, 1]);
  for (const [i, { session_id }] of made_of.entries()) {
    const origin = ORIGINS[i] as Triple;
    const { tail } = await backfilled(made, session_id, { origin });
    expect(tail).toMatchObject({ miss_count: MISSES, scan_origin: origin });
    expect(tail.warnings?.join() ?? "").not.toMatch(/dropped|position/); // hits of the other scan are none of this one
    await expectTheMisses(made, session_id, { origin: origin });
    expect((await stateOf(made, session_id)).meta.miss_octree_origin).toEqual(origin);
    expect((await backfilled(made, session_id, { origin })).tail.miss_count).toBe(MISSES);
  }
});

test("from the position that the file states, not from another one", async () => {
  const [, second] = await children(await twoScans());
  const { tail } = await backfilled(made, second?.session_id ?? "", { origin: ORIGINS[0] });
  expect(tail).toMatchObject({ miss_count: MISSES, scan_origin: ORIGINS[1] });
  expect(tail.warnings?.join()).toContain(
    "The position of scan 1 in the file is used, 130, 205, 11: the origin of the request is 30.4 m from it.",
  );
  await expectTheMisses(made, second?.session_id ?? "", { origin: ORIGINS[1] as Triple });
});

test("not of several scans together", async () => {
  const id = await twoScans();
  const told = [400, expect.stringMatching(/^the cloud holds 2 scans.*extract them by the column scan_index/)];
  expect(await refusal(made, backfillUrl(id), { origin: ORIGINS[0] })).toEqual(told);
  const [first] = await children(id);
  expect(first?.value).toBe(0);
});

test("not of scans that state no position, as after a merge", async () => {
  const rows = ["x y z scan_index timestamp", "1 0 0 0 0", "1 1 0 0 1", "1 0 9 1 2", "1 1 9 1 3"];
  const { session_id } = await create(made, made.file("merged.txt", rows.join("\n")));
  const request = { origin: [0, 0, 0], n_theta: 10, n_phi: 10 };
  const told = [400, expect.stringMatching(/^the cloud holds 2 scans/)];
  expect(await refusal(made, backfillUrl(session_id), request)).toEqual(told);
});
