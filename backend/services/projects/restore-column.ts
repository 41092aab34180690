import type { Job } from "../../jobs/job.ts";
import type { DType } from "../../native/core/handles.ts";
import { type ArrayForm, type MemberRange, readArray, unpackArray } from "../../native/files/archive.ts";
import type { ColumnRef } from "../../sessions/column-ref.ts";
import type { RestoredSession } from "../../sessions/restored-session.ts";
import { type Archive, damagedMember, damagedProject } from "./archive-read.ts";

/** Where the columns of a session come from. */
export interface Source {
  readonly archive: Archive;
  readonly folder: string;
  readonly n: number;
  readonly version: number;
  readonly session: RestoredSession;
  readonly job: Job;
}

/** The stored array of a name without extension. Errors: invalid_file if there is none. */
export async function arrayMember(archive: Archive, name: string, version: number): Promise<[ArrayForm, MemberRange]> {
  // A 0-d array is written as .npy by any version.
  const form = archive.has(`${name}.pz`) || (version > 1 && !archive.has(`${name}.npy`)) ? "pz" : "npy";
  return [form, await archive.range(`${name}.${form}`)];
}

/** A column of the session, read from its member. */
export async function column(source: Source, name: string, rows: number | null): Promise<ColumnRef> {
  const { archive, folder, version, session, job } = source;
  const member = `${folder}/${name}`;
  const [form, range] = await arrayMember(archive, member, version);
  try {
    return await session.add(
      { toFile: (path) => unpackArray(range, form, rows, path), toMemory: () => readArray(range, form, rows) },
      (start) => job.track(start),
    );
  } catch (error) {
    job.checkpoint();
    throw damagedMember(`${member}.${form}`, error);
  }
}

export function requireType(source: Source, name: string, { native }: ColumnRef, wanted: DType): void {
  if (native.dtype !== wanted)
    throw damagedProject(`${source.folder}/${name} has the type ${native.dtype}, not ${wanted}`);
}
