import { expect } from "vitest";
import { addon } from "../../../backend/native/core/addon.ts";
import type { NativeColumn } from "../../../backend/native/core/handles.ts";
import type { CloudState } from "../../../backend/sessions/cloud-session.ts";
import type { RowSet } from "../../../backend/sessions/undo.ts";
import { OpenProjectTail, SaveProjectTail, StageSceneResponse } from "../../../shared/contract/project.ts";
import type { TestApp } from "../app/app.ts";
import { checked, tail } from "../session/session-edits.ts";

export const SCENE = Buffer.from("PSC1 a scene, which the service does not look into");

/** Token of a staged scene. */
export async function staged({ app }: TestApp, scene: Buffer = SCENE): Promise<string> {
  const headers = { "content-type": "application/octet-stream" };
  const answer = await app.inject({ method: "POST", url: "/api/project/scene", headers, payload: scene });
  expect([answer.statusCode, answer.statusCode === 200 ? "" : answer.body]).toEqual([200, ""]);
  return checked(StageSceneResponse, answer.json()).token;
}

export async function saved(
  made: TestApp,
  path: string,
  session_ids: readonly string[],
  wishes: object = {},
): Promise<SaveProjectTail> {
  return tail(made, SaveProjectTail, "/api/project/save", {
    path,
    scene_token: await staged(made),
    session_ids,
    ...wishes,
  });
}

export const opened = (made: TestApp, path: string): Promise<OpenProjectTail> =>
  tail(made, OpenProjectTail, "/api/project/open", { path });

/** The scene of an opened project. */
export async function sceneOf({ app }: TestApp, token: string): Promise<Buffer> {
  const answer = await app.inject({ url: `/api/project/scene/${token}` });
  expect(answer.statusCode).toBe(200);
  return answer.rawPayload;
}

/** Bytes of a column, as text. */
const bytes = (column: NativeColumn): string => {
  const out = new Uint8Array(column.bytes);
  column.readInto(out, 0);
  return `${column.dtype} ${column.length} ${Buffer.from(out).toString("base64")}`;
};
const rows = ({ encoding, count, data }: RowSet) => ({ encoding, count, data: bytes(data.native) });

/** Everything that a session consists of, bit for bit, without its version. */
export const contentsOf = ({ columns, misses, undo, meta }: CloudState) => ({
  columns: Object.fromEntries([...columns].map(([key, { native }]) => [key, bytes(native)]).sort()),
  misses: Object.fromEntries([...misses].map(([key, { native }]) => [key, bytes(native)]).sort()),
  undo: {
    base: undo.base && rows(undo.base),
    deletes: undo.deletes.map(rows),
    labels: [...undo.labels].map(([slug, strokes]) => [
      slug,
      strokes.map((stroke) => ({ ...stroke, rows: rows(stroke.rows), previous: bytes(stroke.previous.native) })),
    ]),
  },
  meta,
});

/** A column of these values. */
export const columnOfBytes = (dtype: NativeColumn["dtype"], values: ArrayBufferView): NativeColumn =>
  new addon.Column(dtype, new Uint8Array(values.buffer, values.byteOffset, values.byteLength));
