import { describe, expect, test } from "vitest";
import { openedFiles, passedFiles } from "../../../backend/entry/opened-files.ts";

describe("openedFiles", () => {
  test("takes the words that are no options, as absolute paths", () => {
    const argv = ["/opt/app/app", "--no-sandbox", "plot.laz", "/data/a b.proj", "--flag=x", "", "../up.las"];
    expect(openedFiles(argv, 1, "/home/ann")).toEqual(["/home/ann/plot.laz", "/data/a b.proj", "/home/up.las"]);
  });
  test("leaves out the path of an app that Electron runs from source", () => {
    expect(openedFiles(["electron", "--inspect", "main.js", "x.ply"], 2, "/w")).toEqual(["/w/x.ply"]);
  });
  test("takes addresses of files, as some desktops pass them", () => {
    expect(openedFiles(["app", "file:///data/a%20b.e57"], 1, "/")).toEqual(["/data/a b.e57"]);
  });
  test("starts with addresses that name no file of this machine", () => {
    expect(openedFiles(["app", "file:///data/%zz.las"], 1, "/w")).toHaveLength(1);
  });
});

describe("passedFiles", () => {
  test("takes the files of a second start", () => {
    expect(passedFiles({ files: ["/a.las", "/b.las"] })).toEqual(["/a.las", "/b.las"]);
  });
  test.each([null, undefined, "x", 7, {}, { files: "x" }])("makes no files of %j", (data) => {
    expect(passedFiles(data)).toEqual([]);
  });
  test("leaves out what is no path", () => {
    expect(passedFiles({ files: [1, "/a.las", null] })).toEqual(["/a.las"]);
  });
});
