/*
 * A workflow of each domain through a client that is generated from the OpenAPI document. The test copies this folder,
 * generates `schema.ts` into the copy, compiles it strictly and runs it.
 */
import { files, models, sessions, trees } from "./clouds.ts";
import { fits, leafArea, plants, projects, service, surfaces } from "./domains.ts";
import { clientOf } from "./place.ts";

const WORKFLOWS = { service, files, sessions, trees, models, leafArea, surfaces, fits, plants, projects };

/** Drives every workflow and tells which were. */
export async function driveAll(baseUrl: string, folder: string): Promise<string[]> {
  const place = { client: clientOf(baseUrl), folder };
  for (const drive of Object.values(WORKFLOWS)) await drive(place);
  return Object.keys(WORKFLOWS);
}
