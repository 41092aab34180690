/* The generated client and what all workflows use. `schema.ts` is what openapi-typescript makes of the document. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import createClient from "openapi-fetch";
import type { paths } from "./schema.ts";

export type Triple = [number, number, number];
export type Client = ReturnType<typeof clientOf>;
/** Where a workflow works: the generated client, and a folder for the files that the service reads. */
export interface Place {
  readonly client: Client;
  readonly folder: string;
}

export const clientOf = (baseUrl: string) => createClient<paths>({ baseUrl, headers: { accept: "application/json" } });

/** The result in an answer. Errors: the answer is a refusal or tells a failure, with its text. */
export function ok<T>({ data, error, response }: { data?: T; error?: unknown; response: Response }) {
  if (data === undefined) throw new Error(`${response.url}: ${response.status} ${JSON.stringify(error)}`);
  const { success = true } = data as { success?: boolean };
  if (!success) throw new Error(`${response.url}: ${JSON.stringify(data)}`);
  return data as Exclude<T, { success: false }>;
}

let state = 7;
export const random = () => {
  state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
  return state / 2 ** 32;
};
export const turned = (x: number, y: number, radius: number, z: number): Triple => {
  const turn = 2 * Math.PI * random();
  return [x + radius * Math.cos(turn), y + radius * Math.sin(turn), z];
};
export const many = <T>(count: number, make: (i: number) => T): T[] => Array.from({ length: count }, (_, i) => make(i));

/** A session of a text table of points. */
export async function opened({ client, folder }: Place, name: string, rows: readonly Triple[]): Promise<string> {
  const source_path = join(folder, name);
  writeFileSync(source_path, `x y z\n${rows.map((row) => row.map((v) => v.toFixed(4)).join(" ")).join("\n")}\n`);
  return ok(await client.POST("/api/cloud/session/create", { body: { source_path } })).session_id;
}
