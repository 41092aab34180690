import { execFileSync, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { MANIFEST } from "../../backend/services/projects/manifest.ts";
import { SaveProjectTail } from "../../shared/contract/project.ts";
import { run } from "../support/app/app.ts";
import { contentsOf, opened, SCENE, saved, sceneOf, staged } from "../support/project/project.ts";
import { box, richRows, richSession } from "../support/project/rich-session.ts";
import { octreeIds, worldOf } from "../support/project/world.ts";
import { canceledAmid, cloud, failed, stateOf } from "../support/session/session-edits.ts";
import { sessionTest } from "../support/session/session-test.ts";

const made = sessionTest();
const PYTHON = ["/usr/bin/python3", "/usr/local/bin/python3"].find(existsSync);
const READER = join(import.meta.dirname, "../support/python/read_project.py");

const at = (name: string) => join(made.folder, name);

describe("a project", () => {
  test("brings back everything of its sessions, the scene and the display", async () => {
    const a = await richSession(made);
    const b = (await cloud(made, richRows(10))).session_id;
    const path = at("plot.proj");
    const tail = await saved(made, path, [a, b, a, "00000000"]);
    expect(tail).toMatchObject({ path, sessions: 2, missing_sessions: ["00000000"], bytes: statSync(path).size });
    const back = await opened(made, path);
    expect(Object.keys(back.session_map).sort()).toEqual([a, b].sort());
    expect(new Set([a, b, ...Object.values(back.session_map)]).size).toBe(4);
    expect(back.warnings).toEqual([]);
    for (const [old, id] of Object.entries(back.session_map))
      expect(contentsOf(await stateOf(made, id))).toEqual(contentsOf(await stateOf(made, old)));
    expect(await sceneOf(made, back.scene_token)).toEqual(SCENE);
    expect((await made.app.inject({ url: `/api/project/scene/${back.scene_token}` })).statusCode).toBe(404);
    expect(readdirSync(made.folder).filter((name) => name.includes("partial"))).toEqual([]);
  });

  test("undo goes on in the reopened session as in the old one, step by step", async () => {
    const a = await richSession(made);
    const path = at("undo.proj");
    await saved(made, path, [a]);
    const { session_map } = await opened(made, path);
    const b = session_map[a] as string;
    const both = async (action: string, payload: object) => {
      const answers = [];
      for (const id of [a, b]) answers.push(await made.post(id, action, payload));
      const [one, other] = answers.map((answer) => ({ ...(answer.json() as object), session_id: "" }));
      expect([answers[0]?.statusCode, other]).toEqual([200, one]);
      const states = [contentsOf(await stateOf(made, a)), contentsOf(await stateOf(made, b))];
      expect(states[1]).toEqual(states[0]);
    };
    await both("reset_label_edits", { slug: "class", undo_after_stroke_ids: ["s1"] });
    await both("delete_region", { region: box(20, 21) });
    for (const edit_count of [2, 1, 0]) await both("reset_edits", { edit_count });
    await both("reset_label_edits", { slug: "class", undo_after_stroke_ids: ["s0"] });
    await both("reset_label_edits", { slug: "class" });
    await both("rebuild_octree", {});
  });

  test("an empty project, and one without points left", async () => {
    const path = at("empty.proj");
    await saved(made, path, []);
    expect(await opened(made, path)).toMatchObject({ session_map: {}, octree_map: {}, warnings: [] });
    const { session_id } = await cloud(made, richRows(1));
    await saved(made, path, [session_id]);
    const { session_map } = await opened(made, path);
    expect(contentsOf(await stateOf(made, session_map[session_id] as string))).toEqual(
      contentsOf(await stateOf(made, session_id)),
    );
  });

  test("sessions of a project survive a restart of the service like others", async () => {
    const a = await richSession(made, 300);
    const path = at("restart.proj");
    await saved(made, path, [a]);
    const { session_map } = await opened(made, path);
    const id = session_map[a] as string;
    const session = await made.deps.sessions.get(id);
    await made.deps.sessions.spill(session);
    expect(contentsOf(session.state)).toEqual(contentsOf(await stateOf(made, a)));
    expect(readdirSync(join(made.sessions, id))).toContain("journal.log");
  });

  test.skipIf(!PYTHON)("reads in Python with the standard library, and in unzip", async () => {
    const a = await richSession(made, 500);
    const path = at("python.proj");
    await saved(made, path, [a]);
    const found = JSON.parse(execFileSync(PYTHON as string, [READER, path], { encoding: "utf8" })) as Record<
      string,
      unknown
    >;
    const { columns } = await stateOf(made, a);
    const names = ["positions", "colors", "intensity", "timestamps", "beam_origins", "deleted"];
    for (const name of names) {
      const native = columns.get(name)?.native;
      expect(native, name).toBeDefined();
      if (!native) continue;
      const bytes = new Uint8Array(native.bytes);
      native.readInto(bytes, 0);
      const member = found[`sessions/${a}/${name}.pz`] as [string, number[], string];
      expect(member[2]).toBe(createHash("sha256").update(bytes).digest("hex"));
      expect(member[1][0]).toBe(native.length);
    }
    expect(found[`sessions/${a}/deleted.pz`]).toMatchObject(["|b1", [500], expect.any(String)]);
    expect(found[MANIFEST]).toMatchObject({ format: "scene-project", version: 2, sessions: [{ key: a, n: 500 }] });
    const { members } = found[MANIFEST] as { members: string[] };
    for (const name of Object.keys(found)) if (name !== MANIFEST) expect(members).toContain(name);
    const unzip = spawnSync("unzip", ["-tq", path], { encoding: "utf8" });
    if (unzip.error) console.log("projects: unzip is not installed");
    else expect([unzip.status, unzip.stdout]).toEqual([0, expect.stringContaining("No errors")]);
  });
});

describe("display octrees", () => {
  test("of unchanged sessions are left out and rebuilt; of sessions with pending deletions they are embedded", async () => {
    const plain = (await cloud(made, richRows(400))).session_id;
    const edited = (await cloud(made, richRows(401))).session_id;
    expect((await made.post(edited, "delete_region", { region: box(1, 2) })).statusCode).toBe(200);
    const path = at("octrees.proj");
    const tail = await saved(made, path, [plain, edited]);
    const metas = [(await stateOf(made, plain)).meta, (await stateOf(made, edited)).meta];
    const all = metas.flatMap((meta) => [
      meta.octree_cache_id ?? meta.rendered_octree_cache_id ?? "",
      meta.miss_octree_cache_id ?? "",
    ]);
    const ids = [...new Set(all)].sort();
    expect([tail.octrees, ids.every((id) => octreeIds(made).includes(id))]).toEqual([2, true]); // drawn, and sky points
    for (const id of [plain, edited]) await made.app.inject({ method: "DELETE", url: `/api/cloud/session/${id}` });
    for (const id of ids) rmSync(join(made.octrees, id), { recursive: true, force: true });
    const back = await opened(made, path);
    expect(back.warnings).toEqual([]);
    expect(octreeIds(made)).toEqual(expect.arrayContaining(ids));
    expect(Object.keys(back.octree_map).sort()).toEqual(ids);
    for (const [old, now] of Object.entries(back.octree_map)) expect(now).toBe(old);
  });

  test("that are in the cache stay as they are", async () => {
    const { session_id } = await cloud(made, richRows(300));
    await made.post(session_id, "delete_region", { region: box(0, 1) });
    const path = at("live.proj");
    await saved(made, path, [session_id]);
    const before = octreeIds(made).map((id) => statSync(join(made.octrees, id, "octree.bin")).ino);
    await opened(made, path);
    expect(octreeIds(made).map((id) => statSync(join(made.octrees, id, "octree.bin")).ino)).toEqual(before);
  });
});

describe("a save that does not end", () => {
  test("a cancel leaves the old project and no other file", async () => {
    const a = await richSession(made, 300);
    const path = at("kept.proj");
    await saved(made, path, [a]);
    const old = readFileSync(path);
    const { scenes } = worldOf(made);
    const scene_token = await staged(made);
    for (const op of ["chooseFilter", "columnBlocks"] as const) {
      const token = op === "chooseFilter" ? scene_token : await staged(made);
      const { outcome } = await canceledAmid(made, op, () =>
        run(made, "/api/project/save", { path, scene_token: token, session_ids: [a] }),
      );
      expect(outcome.kind).toBe("canceled");
      expect(readFileSync(path).equals(old)).toBe(true);
      expect(readdirSync(made.folder).filter((name) => name.includes("partial"))).toEqual([]);
      expect((await made.app.inject({ url: `/api/project/scene/${token}` })).statusCode).toBe(404);
    }
    expect(worldOf(made).scenes).toEqual(scenes);
  });

  test("a cancel of an open leaves nothing", async () => {
    const a = await richSession(made, 300);
    const path = at("opening.proj");
    await saved(made, path, [a]);
    const before = worldOf(made);
    for (const op of ["unpackArray", "rowSetOf", "unionRows"] as const) {
      const { outcome } = await canceledAmid(made, op, () => run(made, "/api/project/open", { path }));
      expect([op, outcome.kind]).toEqual([op, "canceled"]);
      expect(worldOf(made)).toEqual(before);
    }
  });

  test("two saves of one path follow each other", async () => {
    const a = await richSession(made, 300);
    const path = at("twice.proj");
    const tails = await Promise.all([saved(made, path, [a]), saved(made, path, [a]), saved(made, path, [])]);
    expect(tails.map((one) => SaveProjectTail.parse(one).path)).toEqual([path, path, path]);
    await opened(made, path);
    expect(readdirSync(made.folder).filter((name) => name.includes("partial"))).toEqual([]);
  });

  test("a file of the user is not replaced unasked, a project is", async () => {
    const path = at("notes.proj");
    writeFileSync(path, "my notes");
    const body = { path, scene_token: await staged(made), session_ids: [] };
    const answer = await made.app.inject({ method: "POST", url: "/api/project/save", payload: body });
    expect([answer.statusCode, answer.json()]).toEqual([
      409,
      { code: "conflict", detail: expect.stringMatching(/^path ".*notes\.proj" exists.*overwrite/) },
    ]);
    expect(readFileSync(path, "utf8")).toBe("my notes");
    await saved(made, path, [], { overwrite: true });
    await saved(made, path, []);
    const other = await made.app.inject({
      method: "POST",
      url: "/api/project/save",
      payload: { ...body, path: at("a.txt") },
    });
    expect([other.statusCode, (other.json() as { detail: string }).detail]).toEqual([
      400,
      expect.stringMatching(/\.proj/),
    ]);
  });

  test("a damaged file of a session stops the save", async () => {
    const { session_id } = await cloud(made, richRows(300));
    const { columns } = await stateOf(made, session_id);
    const file = columns.get("positions")?.file as string;
    const bytes = readFileSync(file);
    bytes[100] = (bytes[100] ?? 0) ^ 1;
    writeFileSync(`${file}.new`, bytes);
    renameSync(`${file}.new`, file);
    const path = at("damaged.proj");
    const { error } = await failed(made, "/api/project/save", {
      path,
      scene_token: await staged(made),
      session_ids: [session_id],
    });
    expect(error).toMatch(/damaged on the disk/);
    expect(existsSync(path)).toBe(false);
  });
});
