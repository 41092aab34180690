import { closeSync, openSync, readFileSync, rmSync, truncateSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { create } from "../support/app/app.ts";
import { sessionTest } from "../support/session/session-test.ts";

const made = sessionTest();
const NAMES = ["metadata.json", "hierarchy.bin", "octree.bin", "attribute_labels.json"] as const;
const rows = Array.from(
  { length: 3_000 },
  (_, i) => `${(i % 173) / 10} ${((i * 7) % 181) / 10} ${(i % 31) / 10} ${i % 9}`,
);

/** What may happen to a file of the cache. */
const DAMAGES: Readonly<Record<string, (path: string) => void>> = {
  "is gone": (path) => rmSync(path),
  "is empty": (path) => truncateSync(path, 0),
  "ends early": (path) => truncateSync(path, Math.floor(readFileSync(path).length / 2)),
  "holds other bytes": (path) => {
    const file = openSync(path, "r+");
    writeSync(file, Buffer.alloc(12, 0xee), 0, 12, 0);
    closeSync(file);
  },
};
/** The bytes of points are not compared: that would take as long as a new build. Other points are seen, and no more. */
const UNSEEN = new Set(["octree.bin holds other bytes"]);

const CASES = NAMES.flatMap((name) => Object.keys(DAMAGES).map((damage) => [name, damage] as const));
test.each(CASES.filter((one) => !UNSEEN.has(one.join(" "))))(
  "%s %s: the next import and a rebuild make the octree anew",
  async (name, damage) => {
    const file = made.file("damaged.xyz", `x y z class\n${rows.join("\n")}\n`);
    const first = await create(made, file);
    const folder = join(made.octrees, first.cache_id ?? "");
    const files = () => NAMES.map((each) => readFileSync(join(folder, each)));
    const whole = files();
    const same = () => files().every((bytes, i) => name === "metadata.json" || bytes.equals(whole[i] as Buffer));
    DAMAGES[damage]?.(join(folder, name));
    const second = await create(made, file);
    expect([second.cache_id, second.point_count, same()]).toEqual([first.cache_id, first.point_count, true]);
    DAMAGES[damage]?.(join(folder, name));
    const rebuilt = await made.post(first.session_id, "rebuild_octree");
    expect([rebuilt.statusCode, rebuilt.json().point_count, same()]).toEqual([200, first.point_count, true]);
    const served = await made.app.inject(
      `/octree/${first.cache_id}/${name === "attribute_labels.json" ? "metadata.json" : name}`,
    );
    expect(served.statusCode).toBe(200);
  },
);

test("a folder of a file's name in the place of an octree is replaced", async () => {
  const file = made.file("odd.xyz", `x y z\n${rows.slice(0, 50).join("\n")}\n`.replaceAll(/ \d+$/gm, ""));
  const first = await create(made, file);
  const folder = join(made.octrees, first.cache_id ?? "");
  rmSync(folder, { recursive: true });
  writeFileSync(folder, "not a folder");
  expect((await create(made, file)).cache_id).toBe(first.cache_id);
});
