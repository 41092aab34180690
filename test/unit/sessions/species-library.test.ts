import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { parseWithLines } from "../../../backend/sessions/json-lines.ts";
import { SpeciesLibrary } from "../../../backend/sessions/species-library.ts";

const BEAN = readFileSync(new URL("../../../resources/species/bean.json", import.meta.url), "utf8");
let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "species-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));
const file = (name: string, text: string) => writeFileSync(join(folder, name), text);
const mine = BEAN.replace('"id": "bean"', '"id": "mybean"');
const problems = async () => (await new SpeciesLibrary(folder).list()).problems;

describe("species of the user", () => {
  test("are listed with the bundled ones and can grow", async () => {
    file("mybean.json", mine);
    const library = new SpeciesLibrary(folder);
    const { species, problems: wrong } = await library.list();
    expect([species.length, wrong]).toEqual([31, []]);
    const found = await library.find("mybean");
    expect(found?.origin).toBe("user");
    expect(await found?.native()).toBeTruthy();
    expect((await library.find("bean"))?.origin).toBe("bundled");
    expect(await library.find("triffid")).toBeUndefined();
  });

  test("one with the id of a bundled species takes its place, as long as its file is there", async () => {
    file("bean.json", BEAN.replace(/"max_age_days": \d+/, '"max_age_days": 12'));
    const library = new SpeciesLibrary(folder);
    const { species, problems: wrong } = await library.list();
    expect([species.length, wrong]).toEqual([30, []]);
    for (const bean of [await library.find("bean"), species.find((one) => one.file.id === "bean")])
      expect([bean?.origin, bean?.file.max_age_days]).toEqual(["user", 12]);
    expect((await library.find("maize"))?.origin).toBe("bundled");
    rmSync(join(folder, "bean.json"));
    expect((await library.find("bean"))?.origin).toBe("bundled");
  });

  test("a group of its own, and no ranges or sources", async () => {
    const { expected: _, sources: __, ...rest } = JSON.parse(mine) as Record<string, unknown>;
    file("mybean.json", JSON.stringify({ ...rest, group: "My plants" }));
    const { species, problems: wrong } = await new SpeciesLibrary(folder).list();
    expect(wrong).toEqual([]);
    expect(species.find((one) => one.file.id === "mybean")?.file.group).toBe("My plants");
  });

  test.skipIf(process.platform === "win32")("a pipe and a folder among the files hide no other", async () => {
    file("mybean.json", mine);
    execFileSync("mkfifo", [join(folder, "pipe.json")]); // reading it would wait for a writer
    mkdirSync(join(folder, "folder.json"));
    const reason = "it is not a regular file";
    expect(await problems()).toEqual(["folder.json", "pipe.json"].map((name) => ({ file: name, line: null, reason })));
  });

  test("bad files are named with line and reason, and hide no other", async () => {
    file("mybean.json", mine);
    const line = (text: string, part: string) => text.slice(0, text.indexOf(part)).split("\n").length;
    const negative = mine.replace('"mybean"', '"negative"').replace(/"max_age_days": \d+/, '"max_age_days": -1');
    file("negative.json", negative);
    const unknown = mine.replace('"mybean"', '"unknown"').replace('"woody"', '"wood": 1,\n  "woody"');
    file("unknown.json", unknown);
    file("broken.json", '{\n  "id": "broken",\n  "woody": tru\n}');
    file("empty.json", "");
    file("bean.json", negative);
    file("maize.json", "{");
    file("other.json", mine);
    file("notes.txt", "no species");
    const { species, problems: found } = await new SpeciesLibrary(folder).list();
    expect(species.map(({ file: { id } }) => id)).toContain("mybean");
    expect(species).toHaveLength(31);
    const of = (name: string) => found.find((problem) => problem.file === name);
    expect(of("negative.json")).toMatchObject({
      line: line(negative, '"max_age_days"'),
      reason: expect.stringContaining("max_age_days"),
    });
    expect(of("unknown.json")).toMatchObject({
      line: line(unknown, '"wood"'),
      reason: expect.stringContaining("wood"),
    });
    expect(of("broken.json")).toMatchObject({ line: 3, reason: expect.stringContaining("a value is expected") });
    expect(of("empty.json")).toMatchObject({ line: 1 });
    expect(of("bean.json")?.reason).toContain("bundled bean is used");
    expect(of("maize.json")).toMatchObject({ line: 1, reason: expect.stringContaining("bundled maize is used") });
    for (const id of ["bean", "maize"]) expect(species.find((one) => one.file.id === id)?.origin).toBe("bundled");
    expect(of("other.json")?.reason).toContain("mybean.json");
    expect(found).toHaveLength(7);
  });

  test("a value inside of a shoot type is found", async () => {
    const at = mine.indexOf('"phyllochron_min"');
    const text = `${mine.slice(0, at)}${mine.slice(at).replace(/"phyllochron_min": ([^,]*)/, '"phyllochron_min": "two"')}`;
    file("mybean.json", text);
    const [problem] = await problems();
    expect(problem?.line).toBe(text.slice(0, at).split("\n").length);
    expect(problem?.reason).toMatch(/phyllochron_min/);
  });

  test("a changed file is read again; a missing folder is a problem", async () => {
    const library = new SpeciesLibrary(folder);
    file("mybean.json", "{");
    expect((await library.list()).problems).toHaveLength(1);
    file("mybean.json", mine);
    utimesSync(join(folder, "mybean.json"), 1, 1);
    expect((await library.list()).problems).toEqual([]);
    rmSync(folder, { recursive: true });
    expect((await library.list()).problems[0]?.reason).toContain("cannot be read");
    expect((await library.list()).species).toHaveLength(30);
  });

  test("shapes that cannot be built are refused when the plant is wanted", async () => {
    const shapes = JSON.parse(mine) as { shapes: { leaves: Record<string, { blade: { outline?: unknown } }> } };
    const [leaf] = Object.values(shapes.shapes.leaves);
    if (leaf) Object.assign(leaf.blade, { form: "polar", outline: [] });
    file("mybean.json", JSON.stringify(shapes));
    const library = new SpeciesLibrary(folder);
    const found = await library.find("mybean");
    if (found)
      await expect(found.native()).rejects.toMatchObject({
        code: "invalid_file",
        message: expect.stringContaining("mybean"),
      });
    else expect((await library.list()).problems).toHaveLength(1);
  });
});

test.each([
  ["shapes.leaves.leaf.blade.width_ratio", 0.7, "area_coefficient"],
  ["shoot_types.stem.leaf.leaf_shape", "needle", "no leaf shape needle"],
  ["shoot_types.stem.axillary.fruit_shape", "berry", "no such shape: berry"],
])("a species whose %s is %s cannot be used: %s", async (path, value, reason) => {
  const changed = JSON.parse(mine) as Record<string, unknown>;
  const keys = path.split(".");
  const last = keys.pop() ?? "";
  const inner = keys.reduce<Record<string, unknown>>((at, key) => at[key] as Record<string, unknown>, changed);
  expect(Object.keys(inner)).toContain(last);
  inner[last] = value;
  file("mybean.json", JSON.stringify(changed));
  const found = await new SpeciesLibrary(folder).find("mybean");
  await expect(found?.native()).rejects.toMatchObject({
    code: "invalid_file",
    message: expect.stringContaining(reason),
  });
});

describe("lines of a JSON text", () => {
  const text = '{\n  "a": [1,\n    {"b": 2}],\n  "c/d": null\n}';
  test("of values and of the parts of a path that do not exist", () => {
    const { value, lineOf } = parseWithLines(text);
    expect(value).toEqual(JSON.parse(text));
    expect([["a"], ["a", 1], ["a", 1, "b"], ["a", 1, "x"], ["c/d"], ["q"]].map(lineOf)).toEqual([2, 3, 3, 3, 4, 1]);
  });
  test.each(['{"a":1,}', "[1 2]", '{"a" 1}', "nul", '"\u0001"', "[".repeat(100), '{"a":1} x', "01", '{"\\u12":1}'])(
    "%s is no JSON",
    (wrong) => {
      expect(() => parseWithLines(wrong)).toThrow(/not valid JSON|something follows|nested/);
      if (wrong.length < 50) expect(() => JSON.parse(wrong) as unknown).toThrow();
    },
  );
});

describe("bundled species", () => {
  test("one that is asked for is read alone, and once", async () => {
    const library = new SpeciesLibrary();
    const [bean, again] = await Promise.all([library.find("bean"), library.find("bean")]);
    expect(bean?.file.id).toBe("bean");
    expect(again).toBe(bean);
    expect((await library.list()).species).toContain(bean);
    expect(await library.find("triffid")).toBeUndefined();
    expect(await library.find("../bean")).toBeUndefined();
  });

  test("have the names of their files", async () => {
    const { species } = await new SpeciesLibrary().list();
    expect(species).toHaveLength(30);
    expect(species.map(({ file }) => file.id)).toEqual([...new Set(species.map(({ file }) => file.id))].sort());
  });
});
