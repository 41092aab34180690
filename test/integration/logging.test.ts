import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import pino from "pino";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { runLogger } from "../../backend/http/logging.ts";
import { AppError } from "../../shared/errors.ts";
import { appOfTest } from "../support/app/app.ts";
import { baseAppOfTest, type MadeApp } from "../support/app/base-app.ts";

interface Line {
  readonly level: number;
  readonly msg: string;
  readonly err?: { readonly stack: string };
  readonly others?: number;
  readonly rss_after_bytes?: number;
}
const WARN = 40;
let made: MadeApp;
let lines: Line[];
beforeEach(async () => {
  lines = [];
  const logger = pino({ level: "info" }, { write: (text) => void lines.push(JSON.parse(text) as Line) });
  made = await baseAppOfTest({
    deps: { logger },
    routes: [
      (app) => {
        app.get("/refuse", async () => {
          throw new AppError("conflict", "the cloud changed");
        });
        app.get("/bug", async () => {
          throw new TypeError("oops");
        });
        app.get("/slow", async () => {
          vi.spyOn(performance, "now").mockReturnValue(performance.now() + 6000);
          return {};
        });
      },
    ],
  });
});
afterEach(() => void vi.restoreAllMocks());

test("one line per request: level by status, the reason of a refusal, no query, a stack only for bugs", async () => {
  for (const url of ["/version?secret=1", "/refuse?path=/home/me", "/bug", "/nowhere"]) await made.app.inject({ url });
  expect(lines.map(({ level, msg, err }) => [level, msg, err !== undefined])).toEqual([
    [30, "GET /version -> 200", false],
    [WARN, "GET /refuse -> 409: the cloud changed", false],
    [50, "GET /bug -> 500: oops", true],
    [WARN, "GET /nowhere -> 404", false],
  ]);
});

test("a slow request logs what else was running", async () => {
  await made.app.inject({ url: "/slow" });
  expect(lines.map(({ msg }) => msg)).toEqual(["GET /slow -> 200", "slow: GET /slow -> 200"]);
  expect(lines[1]).toMatchObject({ level: WARN, others: 0, rss_after_bytes: expect.any(Number) });
});

test("one line per run", () => {
  const written: string[] = [];
  const log = runLogger({ info: (_fields, message) => void written.push(message) });
  log({ run_id: "ab", label: "bake", seconds: 1, outcome: "done", rss_before_bytes: 1, rss_after_bytes: 2 });
  expect(written).toEqual(["run ab bake: done"]);
});

test("paths of the user are in no line from info on; the file's name is", async () => {
  const full = await appOfTest();
  const folder = join(full.folder, "home of somebody");
  mkdirSync(folder);
  const bad = join(folder, "bad scan.las");
  writeFileSync(bad, "LASF");
  writeFileSync(join(folder, "a.csv"), "a letter");
  const requests: [string, object][] = [
    ["/api/cloud/session/create", { source_path: bad }],
    ["/api/cloud/session/create", { source_path: join(folder, "..", "home of somebody", "gone.las") }],
    ["/api/pointcloud/preview", { file_path: bad }],
    ["/api/pointcloud/import_by_path", { file_path: bad }],
    ["/api/pointcloud/export", { points: [[1, 2, 3]], format: "csv", dest_path: join(folder, "a.csv") }],
    ["/api/pointcloud/export", { points: [[1, 2, 3]], format: "csv", dest_path: join(folder, "b.csv") }],
  ];
  for (const [url, payload] of requests)
    for (const accept of ["application/json", "*/*"])
      await full.app.inject({ method: "POST", url, payload, headers: { accept } });
  const shown = full.log.filter(({ level }) => level >= 30).map((line) => JSON.stringify(line));
  expect(shown.filter((line) => line.includes("home of somebody"))).toEqual([]);
  expect(shown.filter((line) => line.includes("bad scan.las")).length).toBeGreaterThanOrEqual(4);
  expect(shown.some((line) => line.includes("gone.las"))).toBe(true);
});
