import { expect, test } from "vitest";
import { create, exported, exportTail } from "../support/app/app.ts";
import { sessionTest } from "../support/session/session-test.ts";

const made = sessionTest();

/** A session that states this coordinate system. */
async function cloudOf(name: string, meta: object): Promise<string> {
  const { session_id } = await create(made, made.file(`${name}.txt`, "x y z\n1 1 1\n2 2 2\n"));
  const session = await made.deps.sessions.get(session_id);
  await session.commit(session.state, { meta });
  return session_id;
}

/** What another session reads from the LAS file. */
async function stated(session_id: string, more: object): Promise<number | null> {
  const bytes = await exported(made, session_id, "las", more);
  const { crs_epsg } = await create(made, made.file("back.las", bytes));
  return crs_epsg ?? null;
}

test("a file states the system of its source, of another session, or none", async () => {
  const own = await cloudOf("own", { crs_epsg: 32632, crs_wkt: 'PROJCS["own",AUTHORITY["EPSG","32632"]]' });
  const other = await cloudOf("other", { crs_epsg: 25833, crs_wkt: null });
  const bare = await cloudOf("bare", {});
  expect(await stated(own, {})).toBe(32632);
  expect(await stated(own, { system_of: null })).toBe(32632);
  expect(await stated(own, { system_of: other })).toBe(25833);
  expect(await stated(bare, { system_of: own })).toBe(32632);
  expect(await stated(own, { system_of: bare })).toBe(null);
  expect(await stated(own, { system_of: "none" })).toBe(null);
  const text = (await exported(made, own, "las", { system_of: other })).toString("latin1");
  expect(text).not.toContain("PROJCS");
});

test("a session that is not open is refused; formats without a system say that the key does nothing", async () => {
  const own = await cloudOf("own", { crs_epsg: 32632 });
  const source = { session_id: own };
  const refused = await made.app.inject({
    method: "POST",
    url: "/api/pointcloud/export",
    payload: { source, format: "las", system_of: "0123456789abcdef" },
  });
  expect([refused.statusCode, refused.json().detail]).toEqual([404, expect.stringContaining("0123456789abcdef")]);
  const tail = await exportTail(made, { source, format: "ply", system_of: "none" });
  expect(tail.warnings?.join()).toMatch(/system_of/);
});

test("e57 states the system as WKT; a system that is known only by its code is told", async () => {
  const wkt = 'PROJCS["own",AUTHORITY["EPSG","32632"]]';
  const own = await cloudOf("own", { crs_epsg: 32632, crs_wkt: wkt });
  const coded = await cloudOf("coded", { crs_epsg: 32632 });
  const back = async (id: string, more: object = {}) => {
    const bytes = await exported(made, id, "e57", more);
    return (await create(made, made.file("back.e57", bytes))).crs_epsg ?? null;
  };
  const told = async (id: string, more: object = {}) =>
    (await exportTail(made, { source: { session_id: id }, format: "e57", ...more })).warnings ?? [];
  expect(await back(own)).toBe(32632);
  expect(await told(own)).toEqual([]);
  expect(await back(coded)).toBe(null);
  expect(await told(coded)).toEqual([expect.stringMatching(/no coordinate system: E57 takes it as WKT.* EPSG:32632/)]);
  expect(await back(own, { system_of: "none" })).toBe(null);
  expect(await told(own, { system_of: "none" })).toEqual([]);
  expect(await back(coded, { system_of: own })).toBe(32632);
});
