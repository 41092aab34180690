import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, statSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { create } from "../support/app/app.ts";
import { readRun } from "../support/app/run-body.ts";
import { staged } from "../support/project/project.ts";
import { sessionTest } from "../support/session/session-test.ts";

/* Paths that no request should follow: each is refused in words, at once, and changes nothing. */

const made = sessionTest({ closeSessions: "at the end" });
const POSIX = process.platform !== "win32";
const SOON_MS = 5000;
const triangle = {
  cylinders: [{ cyl_id: 0, start: [0, 0, 0], end: [0, 0, 1], radius: 0.1, parent_id: -1, shoot_id: 0, rank: 0 }],
  shoots: [{ shoot_id: 0, rank: 0, cylinder_ids: [0], child_shoot_ids: [], parent_shoot_id: -1 }],
};
const scan = { points: [[0, 0, 0]], origin: [0, 0, 1], allow_file_source: true };
const grid = { center: [0, 0, 0], size: [1, 1, 1] };
const raster = { grid_z: [0, 0, 0, 0], nx: 2, ny: 2, cell_size: 1, origin: [0, 0], format: "asc" };
let session = "";
let root = "";
let scene = "";

type Field = readonly [name: string, url: string, extension: string, body: (path: string) => object];
const READ: readonly Field[] = [
  ["preview", "/api/pointcloud/preview", ".txt", (file_path) => ({ file_path })],
  ["import_by_path", "/api/pointcloud/import_by_path", ".las", (file_path) => ({ file_path })],
  ["create", "/api/cloud/session/create", ".laz", (source_path) => ({ source_path })],
  ["create", "/api/cloud/session/create", ".e57", (source_path) => ({ source_path })],
  ["mesh", "/api/mesh/import", ".obj", (path) => ({ path })],
  ["mesh", "/api/mesh/import", ".ply", (path) => ({ path })],
  ["model", "/api/qsm/import", ".csv", (path) => ({ path })],
  ["trajectory", "/api/trajectory/parse", ".sbet", (path) => ({ path, format: "sbet" })],
  ["network", "/api/ml/models/import", "", (path) => ({ path })],
  ["project", "/api/project/open", ".proj", (path) => ({ path })],
  ["leaf mesh", "/api/qsm/leaves", ".obj", (obj_path) => ({ ...triangle, obj_path })],
  ["leaf picture", "/api/qsm/leaves", ".png", (texture_path) => ({ ...triangle, texture_path })],
  [
    "pulses",
    "/api/lad/compute",
    ".txt",
    (file_path) => ({ scans: [{ ...scan, points: null, file_path }], grid, gtheta_override: true, gtheta: 0.5 }),
  ],
];
const WRITTEN: readonly Field[] = [
  [
    "export",
    "/api/pointcloud/export",
    ".las",
    (dest_path) => ({ source: { session_id: session }, format: "las", dest_path }),
  ],
  ["raster", "/api/dem/export-raster", ".asc", (dest_path) => ({ ...raster, dest_path })],
  [
    "scans",
    "/api/scan/export-xml",
    "",
    (dest_dir) => ({ scans: [{ session_id: session, origin: [0, 0, 1] }], dest_dir }),
  ],
  ["saved project", "/api/project/save", ".proj", (path) => ({ path, session_ids: [session], scene_token: scene })],
];

/** Places by the extension that the request wants. */
const PLACES: Readonly<Record<string, (extension: string) => string>> = {
  "a pipe": (extension) => {
    const path = join(root, `pipe${extension}`);
    execFileSync("mkfifo", [path]);
    return path;
  },
  "a folder of that name": (extension) => {
    const path = join(root, `folder${extension}`);
    mkdirSync(path);
    return path;
  },
  "a link to a device": (extension) => {
    const path = join(root, `zero${extension}`);
    symlinkSync("/dev/zero", path);
    return path;
  },
  "a loop of links": (extension) => {
    const path = join(root, `loop${extension}`);
    symlinkSync(path, path);
    return path;
  },
  "a relative path": (extension) => `../../etc/hosts${extension}`,
  "a URL": (extension) => `file:///etc/passwd${extension}`,
  "a share": (extension) => `\\\\server\\share\\x${extension}`,
  "the home of another user": (extension) => `~root/x${extension}`,
  "a NUL": (extension) => `/etc/passwd\0${extension}`,
  "a path of 6,000 characters": (extension) => `/${"d/".repeat(3000)}x${extension}`,
  "a name of 300 characters": (extension) => join(root, `${"n".repeat(300)}${extension}`),
  "memory of the process": () => "/proc/self/mem",
  "environment of the process": () => "/proc/self/environ",
  nothing: () => "",
  "the root": () => "/",
};

/** No file is asked for, or a folder that exists. */
const MEANT = new Set([
  "export, nothing",
  "raster, nothing",
  "scans, nothing",
  "scans, a folder of that name",
  "scans, the root",
]);

beforeAll(async () => {
  const points = Array.from({ length: 50 }, (_, i) => `${i % 7} ${i % 5} ${i % 3}`);
  ({ session_id: session } = await create(made, made.file("cloud.xyz", `${points.join("\n")}\n`)));
});

const everything = () =>
  [made.sessions, made.octrees, made.deps.config.dataDir].flatMap((folder) =>
    readdirSync(folder, { recursive: true })
      .map(String)
      .filter((name) => !/\.lock$|\.leases|locks|scenes/.test(name))
      .sort(),
  );

async function refusal([, url, , body]: Field, path: string) {
  if (url.endsWith("/save")) scene = await staged(made);
  const began = performance.now();
  const answer = await Promise.race([
    made.app.inject({ method: "POST", url, payload: body(path) }),
    new Promise<null>((resolve) => setTimeout(() => resolve(null), SOON_MS)),
  ]);
  if (!answer) return `no answer in ${SOON_MS} ms`;
  if (answer.statusCode >= 500) return `${answer.statusCode} ${answer.body.slice(0, 200)}`;
  let words = answer.body;
  if (answer.rawPayload.subarray(0, 4).toString() === "PHP1") {
    const { outcome } = readRun(answer.rawPayload);
    if (outcome.kind === "json" && (outcome.value as { success?: boolean }).success !== false) return "was accepted";
    words = JSON.stringify(outcome);
  } else if (
    answer.statusCode < 400 &&
    !/"success":\s*false|"error":\s*"|"warning":"[^"]/.test(words) &&
    answer.statusCode !== 204
  )
    return `was accepted: ${words.slice(0, 200)}`;
  if (!/[a-z]{3}/.test(words)) return "no words";
  return `${Math.round(performance.now() - began) > SOON_MS ? "late" : "refused"}`;
}

describe.skipIf(!POSIX).each([...READ, ...WRITTEN].map((field) => [`${field[0]} ${field[2]}`, field] as const))(
  "%s",
  (_, field) => {
    test("is refused", async () => {
      root = join(made.folder, `places-${field[0].replaceAll(" ", "-")}-${field[2].slice(1)}`);
      mkdirSync(root);
      const before = everything();
      const wrong: Record<string, string> = {};
      for (const [name, place] of Object.entries(PLACES)) {
        if (MEANT.has(`${field[0]}, ${name}`)) continue;
        const path = place(field[2]);
        const said = await refusal(field, path);
        if (said !== "refused") wrong[name] = said;
      }
      expect(wrong).toEqual({});
      expect(everything()).toEqual(before);
      expect((await made.app.inject("/health")).statusCode).toBe(200);
    });
  },
);

describe.skipIf(!POSIX)("the service's own folders", () => {
  test.each(WRITTEN.map((field) => [field[0], field] as const))(
    "%s does not write there, also through links and dots",
    async (_, field) => {
      const link = join(made.folder, `own-${field[0]}`);
      symlinkSync(made.deps.config.dataDir, link);
      const before = everything();
      const inside = [
        made.sessions,
        made.deps.config.dataDir,
        made.octrees,
        link,
        join(made.folder, "x", "..", "data", "sessions", session),
      ];
      const wrong: string[] = [];
      for (const folder of inside) {
        const said = await refusal(field, field[2] === "" ? folder : join(folder, `x${field[2]}`));
        if (said !== "refused") wrong.push(`${folder}: ${said}`);
      }
      expect(wrong).toEqual([]);
      expect(everything()).toEqual(before);
    },
  );
});

test.skipIf(!POSIX)("what the service keeps is private to its user, whatever the umask", () => {
  const open: string[] = [];
  const folders = [made.sessions, made.octrees];
  for (const folder of folders) if ((statSync(folder).mode & 0o077) !== 0) open.push(folder);
  expect(open).toEqual([]);
});
