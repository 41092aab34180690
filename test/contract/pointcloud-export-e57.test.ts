import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { create, exported, exportTail } from "../support/app/app.ts";
import { DATA } from "../support/scans/data-folder.ts";
import { readByOthers } from "../support/scans/foreign-e57.ts";
import { lasBytes } from "../support/scans/las-bytes.ts";
import { sessionTest } from "../support/session/session-test.ts";
import { differences } from "../support/session/session-values.ts";

const made = sessionTest();
/** Three hits and a miss, shifted, with colour, intensity, a clock and columns of several types. */
const ROWS = [
  "x y z r255 g255 b255 intensity time height class big is_miss",
  "500000.25 0 1 255 0 51 -4 350000000.1234567 0.1234567 2 -70000 0",
  "500001.5 1 2 0 128 0 -2 350000000.25 1.25 5 1 0",
  "500002 2 3.1234567 0 0 0 0 350000000.75 2 2 70000 0",
  "500900 0 900 0 0 0 -4 350000001 0 0 0 1",
];
const shared = made.shared(ROWS, { world_shift: [500000, 0, 0] });
const source = (session_id = shared.session_id, more: object = {}) => ({ session_id, want_colors: true, ...more });
const bytesOf = (tail: { data: string | null }) => Buffer.from(tail.data ?? "", "base64");

describe("e57", () => {
  test("every column returns, in its values; a miss returns as a miss", async () => {
    const tail = await exportTail(made, { source: source(), format: "e57" });
    expect(tail).toMatchObject({ success: true, filename: "pointcloud.e57", point_count: 4, has_colors: true });
    expect(tail.warnings).toEqual([
      "1 misses belong to scans without a known scanner position; the file states their directions from its zero.",
    ]);
    const back = await create(made, made.file("back.e57", bytesOf(tail)), { world_shift: [500000, 0, 0] });
    expect(back).toMatchObject({ total_count: 4, miss_count: 1 });
    const columns = (await differences(made, shared.session_id, back.session_id)).map((line) => line.split(":")[0]);
    expect(columns).toEqual(["positions"]); // the miss lies 20 km from the file's zero
  });

  test("a reader that is not ours finds the same points, colours and pose", async () => {
    const wishes = { world_shift: [1000, 0, 0], origin: [1001.5, 2, 3] };
    const rows = ["x y z r255 g255 b255", "1001.1 0.2 0.3 1 2 3", "1002 -5 7 255 0 9", "1003 1 1 4 5 6"];
    const { session_id } = await create(made, made.file("origin.txt", rows.join("\n")), wishes);
    const bytes = await exported(made, session_id, "e57", { source: source(session_id, { translation: [0, 0, 5] }) });
    const { scans, lines, xml } = await readByOthers(bytes);
    expect(scans).toHaveLength(1);
    const truth = [
      [1001.1, 0.2, 5.3],
      [1002, -5, 12],
      [1003, 1, 6],
    ];
    for (const [i, [x = 0, y = 0, z = 0]] of truth.entries()) {
      const words = (lines[i] ?? "").split(" ").map(Number);
      for (const [axis, value] of [x, y, z].entries()) expect(words[axis]).toBeCloseTo(value, 9);
    }
    expect(lines.map((line) => line.split(" ").slice(3).join(" "))).toEqual(["1 2 3", "255 0 9", "4 5 6"]);
    expect(xml).toMatch(
      /<translation type="Structure"><x type="Float">1001\.5<\/x>\s*<y type="Float">2<\/y>\s*<z type="Float">8<\/z>/,
    );
    expect(xml).toContain(`<name type="String">pointcloud</name>`);
  });

  test("scans keep their positions and rasters; a second round trip changes nothing", async () => {
    const scan = (x: number, cells: readonly string[]) =>
      ["2", "2", `${x} 5 1`, "1 0 0", "0 1 0", "0 0 1", "1 0 0 0", "0 1 0 0", "0 0 1 0", `${x} 5 1 1`, ...cells].join(
        "\n",
      );
    const cells = ["1 0 0 0.25 255 0 1", "0 0 0 0.5 0 0 0", "0 1.25 0 1 0 9 0", "0 0 2.000001 0 0 0 8"];
    const text = `${scan(5e6, cells)}\n${scan(5e6 + 40, [...cells].reverse())}\n`;
    const wishes = { world_shift: [5e6, 0, 0] };
    const first = await create(made, made.file("two.ptx", text), wishes);
    const tail = await exportTail(made, { source: source(first.session_id), format: "e57" });
    expect(tail.warnings).toBeUndefined();
    const again = await create(made, made.file("two.e57", bytesOf(tail)), wishes);
    expect(again).toMatchObject({ total_count: 8, miss_count: 2, unplaceable_miss_count: 2 });
    const changed = await differences(made, first.session_id, again.session_id);
    expect(changed.filter((line) => !/^extra\/(row|column)_index/.test(line))).toEqual([]);
    const { scans } = await readByOthers(bytesOf(tail));
    expect(scans.map((points) => points.length)).toEqual([3, 3]);
    const third = await create(made, made.file("two-3.e57", await exported(made, again.session_id, "e57")), wishes);
    expect(await differences(made, again.session_id, third.session_id)).toEqual([]);
  });

  test("moving scanners: beam origins and times return bit for bit", async () => {
    const rows = ["x y z time origin_x origin_y origin_z"];
    for (let i = 0; i < 50; i += 1) rows.push(`${i / 7} 1 2 ${1e9 + i / 3} ${i / 11} 0.1 ${-i}`);
    const first = await create(made, made.file("walk.txt", rows.join("\n")));
    const tail = await exportTail(made, { source: source(first.session_id), format: "e57" });
    expect(tail.warnings).toBeUndefined();
    const again = await create(made, made.file("walk.e57", bytesOf(tail)));
    expect(await differences(made, first.session_id, again.session_id)).toEqual([]);
  });

  test("columns selects, 16-bit colours are named, inline points are one scan without a pose", async () => {
    const tail = await exportTail(made, { source: source(), format: "E57", columns: ["class"] });
    expect((await readByOthers(bytesOf(tail))).xml).toMatch(/<column:class type="Integer" minimum="0" maximum="5">/);
    expect(tail.warnings?.join(" ")).toMatch(/sky points \(misses\) are in the file, but not marked/);
    const deep = await create(made, made.file("deep.txt", "x y z r g b\n0 0 0 0.3 0.3 0.3\n1 1 1 1 1 1\n"));
    const said = await exportTail(made, { source: source(deep.session_id), format: "e57" });
    expect(said.warnings).toEqual(["colors: E57 stores 8 bits per channel; the lower 8 of 16 bits are lost."]);
    const inline = await exportTail(made, { points: [[1e7, -1e7, 0.125]], colors: [[1, 0, 0.5]], format: "e57" });
    const { scans, lines, xml } = await readByOthers(bytesOf(inline));
    expect(scans).toEqual([[{ x: 1e7, y: -1e7, z: 0.125 }]]);
    expect(lines[0]).toMatch(/ 255 0 128$/);
    expect(xml).not.toContain("<pose");
  });

  test("fields of a LAS file return in their values", async () => {
    const rows = Array.from({ length: 3000 }, (_, i) => ({ x: i / 100, y: -i / 50, z: 1, intensity: i % 4096 }));
    const first = await create(made, made.file("fields.las", lasBytes(rows)));
    const again = await create(made, made.file("fields.e57", await exported(made, first.session_id, "e57")));
    const other = (await differences(made, first.session_id, again.session_id)).filter(
      (line) => !/: [ui]\d+, then [ui]\d+$/.test(line),
    );
    expect(other).toEqual([]);
  });

  const folder = join(DATA, "e57");
  const files = existsSync(folder) ? readdirSync(folder).filter((name) => /^(bunny|tiny|pdal|las2e57)/.test(name)) : [];
  if (files.length === 0)
    console.log("e57 round trips of real files: skipped, the test data is not there (APP_TEST_DATA)");
  test.each(files)("%s: read, written and read again by both readers", async (name) => {
    const first = await create(made, join(folder, name));
    const bytes = await exported(made, first.session_id, "e57");
    const again = await create(made, made.file(`again-${name}`, bytes));
    const changed = await differences(made, first.session_id, again.session_id);
    expect(changed.filter((line) => !/then|^positions/.test(line))).toEqual([]);
    const { scans } = await readByOthers(bytes);
    expect(scans.reduce((sum, points) => sum + points.length, 0)).toBe(first.total_count - (first.miss_count ?? 0)); // it leaves out invalid points
  });
});
