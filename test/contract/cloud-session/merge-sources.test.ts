import { describe, expect, test } from "vitest";
import { pointsColumn } from "../../../backend/services/run/points.ts";
import { ExtractByColumnTail } from "../../../shared/contract/cloud-session/extract-by-column.ts";
import { MergeResponse } from "../../../shared/contract/cloud-session/merge.ts";
import { create, exported, exportTail } from "../../support/app/app.ts";
import { lasBytes } from "../../support/scans/las-bytes.ts";
import { answered, cloud, columnOf, lineCloud, stateOf, streamed } from "../../support/session/session-edits.ts";
import { sessionTest } from "../../support/session/session-test.ts";

const made = sessionTest();
const merge = async (...session_ids: string[]) => {
  const { merged, warnings } = await answered(made, MergeResponse, "/api/cloud/session/merge", { session_ids });
  return { id: merged.session_id, warnings: warnings ?? [] };
};
const ADJUSTED = 1;
/** A session of a LAS file with these times; bit 0 of `encoding` says of which clock. */
async function timed(name: string, times: readonly number[], encoding: number): Promise<string> {
  const rows = times.map((gps_time, i) => ({ x: i, y: 0, z: 0, gps_time }));
  const file = made.file(`${name}.las`, lasBytes(rows, { global_encoding: encoding }));
  return (await create(made, file)).session_id;
}
/** Whether the LAS file of a session says adjusted standard GPS time, and what the export warns of. */
async function clockOf(id: string): Promise<{ adjusted: boolean; warnings: string }> {
  const bytes = await exported(made, id, "las", {});
  const tail = await exportTail(made, { source: { session_id: id }, format: "las" });
  return { adjusted: (bytes.readUInt16LE(6) & 1) === 1, warnings: tail.warnings?.join() ?? "" };
}
const UNKNOWN = /The clock of the times, .* is not known/;

describe("clocks", () => {
  test("of one kind stay, also beside clouds without times and with one time for all points", async () => {
    const varied = await timed("varied", [3e8, 3.1e8], ADJUSTED);
    const constant = await timed("constant", [3.2e8, 3.2e8], ADJUSTED);
    const { session_id: text } = await lineCloud(made, [1]);
    expect(await clockOf(constant)).toEqual({ adjusted: true, warnings: "" });
    for (const other of [constant, text]) {
      const merged = await merge(varied, other);
      expect(merged.warnings.join()).not.toMatch(/count time differently/);
      expect(await clockOf(merged.id)).toEqual({ adjusted: true, warnings: "" });
    }
    const filled = await merge(constant, text);
    expect(filled.warnings.join()).toMatch(/the value 0 there: timestamps/);
    expect((await clockOf(filled.id)).adjusted).toBe(true);
  });

  test("of two kinds are told, and that a file says the wrong one", async () => {
    const merged = await merge(await timed("a", [3e8, 3.1e8], ADJUSTED), await timed("week", [2e5, 2.1e5], 0));
    expect(merged.warnings.join()).toMatch(
      /count time differently \(adjusted standard GPS time, seconds of the GPS week\)/,
    );
    const { adjusted, warnings } = await clockOf(merged.id);
    expect(adjusted).toBe(false);
    expect(warnings).toMatch(UNKNOWN);
    expect(warnings).toMatch(/200000 to 310000000 s/);
  });

  test("a file whose times are all 0 has none", async () => {
    const merged = await merge(await timed("a", [3.2e8, 3.2e8], ADJUSTED), await timed("none", [0, 0], 0));
    expect(merged.warnings.join()).toMatch(/the value 0 there: timestamps/);
    expect(merged.warnings.join()).not.toMatch(/count time differently/);
    expect((await clockOf(merged.id)).adjusted).toBe(true);
  });

  test("times of a text file are told in LAS unless they can be seconds of a week", async () => {
    for (const [time, told] of [
      [1.6e9, true],
      [604_800, false],
      [-1, true],
    ] as const) {
      const { session_id } = await cloud(made, ["x y z timestamp", `0 0 0 ${time}`, "1 0 0 5"]);
      const { adjusted, warnings } = await clockOf(session_id);
      expect(adjusted).toBe(false);
      expect(UNKNOWN.test(warnings), `${time}`).toBe(told);
    }
  });
});

/** One scan of a PTX file, two by one cells, that stands at `x`. */
const scan = (x: number) =>
  [
    2,
    1,
    `${x} 0 0`,
    "1 0 0",
    "0 1 0",
    "0 0 1",
    "1 0 0 0",
    "0 1 0 0",
    "0 0 1 0",
    `${x} 0 0 1`,
    "1 2 3 0.5",
    "1 2 4 0.5",
  ].join("\n");
const E57_POSE = /<translation type="Structure"><x type="Float">([^<]*)<\/x>/g;

describe("scanner positions", () => {
  const twoScans = async (file: string, shift = 0) =>
    (
      await create(made, made.file(`${file}.ptx`, `${scan(shift)}\n${scan(shift + 10)}\n`), {
        world_shift: [shift, 0, 0],
      })
    ).session_id;
  const parts = async (id: string) =>
    (
      await streamed(made, ExtractByColumnTail, `/api/cloud/session/${id}/extract_by_column`, {
        slug: "scan_index",
        exclude_values: [],
      })
    ).tail.children.map(({ session_id }) => session_id);

  test("of different scans stay, in the frame of the first cloud", async () => {
    const children = await parts(await twoScans("both"));
    expect(children).toHaveLength(2);
    const merged = await merge(...children);
    expect(merged.warnings).toEqual([]);
    expect((await stateOf(made, merged.id)).meta.scan_origins).toEqual([
      { scan_index: 0, origin: [0, 0, 0] },
      { scan_index: 1, origin: [10, 0, 0] },
    ]);
    const xml = (await exported(made, merged.id, "e57", {})).toString("latin1");
    expect([...xml.matchAll(E57_POSE)].map(([, x]) => Number(x))).toEqual([0, 10]);
    const [, second = ""] = await parts(await twoScans("far", 1000));
    const [first = ""] = children;
    const shifted = await merge(first, second);
    expect((await stateOf(made, shifted.id)).meta.scan_origins).toEqual([
      { scan_index: 0, origin: [0, 0, 0] },
      { scan_index: 1, origin: [1010, 0, 0] },
    ]);
  });

  const scansOf = async (id: string) => {
    const { meta } = await stateOf(made, id);
    return { origins: meta.scan_origins, numbers: await columnOf(made, id, "extra/scan_index") };
  };

  test("of parts of one scan stay with its number", async () => {
    const merged = await merge(await twoScans("one"), await twoScans("two"));
    expect(merged.warnings).toEqual([expect.stringMatching(/^2 clouds have row_index and column_index/)]);
    expect(await scansOf(merged.id)).toEqual({
      origins: [
        { scan_index: 0, origin: [0, 0, 0] },
        { scan_index: 1, origin: [10, 0, 0] },
      ],
      numbers: [0, 0, 1, 1, 0, 0, 1, 1],
    });
  });

  test("of different scans with one number get numbers of their own", async () => {
    const merged = await merge(await twoScans("here"), await twoScans("there", 1000));
    expect(merged.warnings).toEqual(["The clouds are 4 scans: scan_index of the merged cloud tells them apart."]);
    expect(await scansOf(merged.id)).toEqual({
      origins: [0, 10, 1000, 1010].map((x, scan_index) => ({ scan_index, origin: [x, 0, 0] })),
      numbers: [0, 0, 1, 1, 2, 2, 3, 3],
    });
    const xml = (await exported(made, merged.id, "e57", {})).toString("latin1");
    expect([...xml.matchAll(E57_POSE)].map(([, x]) => Number(x))).toEqual([0, 10, 1000, 1010]);
    const lost = "The positions of the 4 scanners are not in the file; e57 stores them.";
    const told = async (format: string) =>
      (await exportTail(made, { source: { session_id: merged.id }, format })).warnings ?? [];
    expect(await told("laz")).toContain(lost);
    expect((await told("e57")).join()).not.toContain(lost);
  });

  test("of several scans whose numbers were dropped are left out, and told", async () => {
    const bare = async (name: string) =>
      (await create(made, made.file(`${name}.ptx`, `${scan(0)}\n${scan(10)}\n`), { drop_slugs: ["scan_index"] }))
        .session_id;
    const merged = await merge(await bare("no1"), await bare("no2"));
    expect(merged.warnings.join()).toMatch(/The scanner positions of 2 clouds are not in the merged cloud/);
    expect((await stateOf(made, merged.id)).meta.scan_origins).toBeUndefined();
  });

  test("are not missed where every point has its beam origin", async () => {
    const rows = ["x y z origin_x origin_y origin_z", "1 1 1 0 0 2", "2 2 2 0 0 2"].join("\n");
    const at = async (name: string) =>
      (await create(made, made.file(`${name}.txt`, rows), { origin: [0, 0, 2] })).session_id;
    expect((await merge(await at("b1"), await at("b2"))).warnings).toEqual([]);
  });

  test("of clouds without scan numbers get numbers", async () => {
    const at = async (x: number) =>
      (await create(made, made.file(`at${x}.txt`, "x y z\n1 1 1\n2 2 2\n"), { origin: [x, 0, 0] })).session_id;
    const { session_id: bare } = await lineCloud(made, [1]);
    const mixed = await merge(await at(1), bare, await at(3), await at(1));
    expect(mixed.warnings).toContain("The clouds are 3 scans: scan_index of the merged cloud tells them apart.");
    expect(await scansOf(mixed.id)).toEqual({
      origins: [
        { scan_index: 0, origin: [1, 0, 0] },
        { scan_index: 2, origin: [3, 0, 0] },
      ],
      numbers: [0, 0, 1, 2, 2, 0, 0],
    });
    const one = await merge(await at(5), await at(5));
    expect(one.warnings).toEqual([]);
    expect(await scansOf(one.id)).toEqual({
      origins: [{ scan_index: 0, origin: [5, 0, 0] }],
      numbers: [0, 0, 0, 0],
    });
    const plain = await merge(bare, (await lineCloud(made, [2])).session_id);
    expect(plain.warnings).toEqual([]);
    expect(await scansOf(plain.id)).toEqual({ origins: undefined, numbers: undefined });
  });

  test("of a cloud whose numbers are no numbers of scans are left out, and told", async () => {
    const { session_id: odd } = await cloud(made, ["x y z scan_index", "1 1 1 -1", "2 2 2 0"]);
    const still = (await create(made, made.file("at.txt", "x y z\n1 1 1\n2 2 2\n"), { origin: [1, 0, 0] })).session_id;
    const merged = await merge(odd, still);
    expect(merged.warnings.join()).toMatch(/The scanner position of 1 cloud is not in the merged cloud/);
    expect(await scansOf(merged.id)).toEqual({ origins: undefined, numbers: [-1, 0, 0, 0] });
  });

  test("of a cloud that stood still are the beam origins of its points beside one that moved", async () => {
    const rows = ["x y z origin_x origin_y origin_z", "1 1 1 0 0 2", "2 2 2 0 1 2"].join("\n");
    const moving = (await create(made, made.file("moving.txt", rows))).session_id;
    const still = (
      await create(made, made.file("still.txt", "x y z\n1001 1 1\n1002 2 2\n"), {
        origin: [1001, 0, 9],
        world_shift: [1000, 0, 0],
      })
    ).session_id;
    const merged = await merge(moving, still);
    expect(merged.warnings).toEqual([]);
    expect(await columnOf(made, merged.id, "beam_origins")).toEqual([0, 0, 2, 0, 1, 2, 1001, 0, 9, 1001, 0, 9]);
  });
});

test("recovered misses are left out, and told", async () => {
  const [one, other] = [(await lineCloud(made, [1])).session_id, (await lineCloud(made, [2])).session_id];
  const session = await made.deps.sessions.get(one);
  const misses = new Map([
    [
      "positions" as const,
      pointsColumn([
        [1, 2, 3],
        [4, 5, 6],
      ]),
    ],
  ]);
  await session.commit(session.state, { misses });
  expect((await merge(one, other)).warnings).toEqual([
    expect.stringMatching(/^2 recovered misses are not in the merged cloud/),
  ]);
});
