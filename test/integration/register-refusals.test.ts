import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { runReal as command } from "../support/cli/real-command-line.ts";
import { writeCorner } from "../support/cli/surfaces.ts";
import { folderOfTest } from "../support/run/folders.ts";

let root = "";
let out = "";
beforeEach(() => {
  root = folderOfTest("register-");
  out = join(root, "out");
});

const writeCloud = (name: string, seed: number, back: boolean, count?: number) =>
  writeCorner(join(root, name), seed, back, count);

describe("refusals leave nothing behind and exit 2", () => {
  test.each<[string, readonly string[], RegExp]>([
    ["no output", ["B", "A"], /required option '--out <folder>'/],
    ["one file", ["B", "--out", "OUT"], /missing required argument 'fixed'/],
    ["a typo", ["B", "A", "--out", "OUT", "--metod", "gicp"], /unknown option '--metod'\n\(Did you mean --method\?\)/],
    [
      "another method",
      ["B", "A", "--out", "OUT", "--method", "icp"],
      /--method "icp" is not one of gicp, plane, point/,
    ],
    ["another start", ["B", "A", "--out", "OUT", "--initial", "best"], /--initial "best" is not one of centroid, auto/],
    [
      "no distance",
      ["B", "A", "--out", "OUT", "--max-distance", "0"],
      /--max-distance "0" must be a positive number of metres/,
    ],
    ["no count", ["B", "A", "--out", "OUT", "--iterations", "1.5"], /--iterations "1.5" must be a whole number/],
    [
      "a mesh format for a cloud",
      ["B", "A", "--out", "OUT", "--format", "stl"],
      /--format "stl" is no format of a point cloud/,
    ],
    ["no format", ["B", "A", "--out", "OUT", "--format", "doc"], /--format "doc" is not one of/],
    [
      "a file that is missing",
      ["B", "C", "--out", "OUT"],
      /does not exist; give the path of a point cloud or mesh file/,
    ],
    ["the same file twice", ["B", "B", "--out", "OUT"], /"b.xyz" is given twice/],
    ["a report of an earlier run", ["B", "A", "--out", "OLD"], /holds report.html of an earlier run; .*--force/],
    [
      "the fixed file as the result",
      ["B", "R", "--out", "SAME", "--force"],
      /b_registered\.xyz" would be replaced by a result/,
    ],
    ["columns without text", ["P", "P", "--out", "OUT", "--columns", "x y z"], /no file is one/],
    ["a cut mesh", ["P", "A", "--out", "OUT"], /p\.ply/],
  ])("%s", async (_name, args, why) => {
    writeCloud("b.xyz", 1, true, 50);
    writeCloud("a.xyz", 7, false, 50);
    // Cut in its header.
    writeFileSync(join(root, "p.ply"), "ply\nformat ascii 1.0\nelement vertex 3\nproperty float x\nelement face 1\n");
    mkdirSync(join(root, "old"));
    writeFileSync(join(root, "old", "report.html"), "mine");
    writeCloud("b_registered.xyz", 3, false, 50);
    const paths: Record<string, string> = {
      SAME: "",
      R: "b_registered.xyz",
      A: "a.xyz",
      B: "b.xyz",
      C: "c.xyz",
      P: "p.ply",
      OUT: "out",
      OLD: "old",
    };
    const argv = args.map((word) => (Object.hasOwn(paths, word) ? join(root, paths[word] ?? "") : word));
    const { code, stdout, stderr } = await command(root, ["register", ...argv]);
    expect([code, stdout]).toEqual([2, ""]);
    expect(stderr).toMatch(why);
    expect(existsSync(join(root, "out"))).toBe(false);
    expect(readdirSync(join(root, "old"))).toEqual(["report.html"]);
  });
});

test("--help has an example, and a typo of the command is answered with its name", async () => {
  const help = await command(root, ["register", "--help"]);
  expect([help.code, help.stdout]).toEqual([
    0,
    expect.stringContaining("npm start -- register scan2.laz scan1.laz --out aligned"),
  ]);
  const typo = await command(root, ["registre", "a", "b"]);
  expect([typo.code, typo.stderr]).toEqual([2, expect.stringContaining('did you mean "register"?')]);
});

test.each(["Registering", "Drawing pictures", "Writing the report"])(
  "canceled while %s: exit 130, and no output",
  async (stage) => {
    const [moving, fixed] = [writeCloud("b.xyz", 1, true, 2000), writeCloud("a.xyz", 9, false, 2000)];
    const { code, stderr } = await command(root, ["register", moving, fixed, "--out", out], (text, cancel) => {
      if (text.endsWith(`${stage}\n`)) cancel();
    });
    expect([code, stderr]).toEqual([130, expect.stringMatching(/Canceled; nothing was written\.\n$/)]);
    expect(existsSync(out)).toBe(false);
  },
);
