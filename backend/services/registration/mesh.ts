import type { BulkNumbers } from "../../../shared/contract/geometry.ts";
import { AppError } from "../../../shared/errors.ts";
import type { Job } from "../../jobs/job.ts";
import { fromNative } from "../../jobs/native-error.ts";
import * as native from "../../native/registration.ts";
import { ColumnRef } from "../../sessions/column-ref.ts";
import { numbersColumn } from "../run/points.ts";

/** A mesh as flat lists; its fields are called <name>_vertices and <name>_indices in the request. */
export interface MeshLists {
  readonly name: "mesh" | "target" | "source";
  readonly vertices: BulkNumbers;
  readonly indices: BulkNumbers;
}

export const isEmptyMesh = ({ vertices, indices }: MeshLists): boolean => vertices.length === 0 || indices.length === 0;

/** Errors: invalid_argument for lists that make no mesh; the message names the request's fields. */
export async function checkMesh(lists: MeshLists): Promise<void> {
  for (const column of await columnsOf(lists, ({ promise }) => promise)) column.release();
}

/** The mesh of the lists, which the run releases. */
export async function meshOf(lists: MeshLists, job: Job): Promise<native.NativeMesh> {
  const [vertices, indices] = await columnsOf(lists, (started) => job.quiet().track(() => started));
  return { vertices: job.adopt(vertices).native, indices: job.adopt(indices).native };
}

async function columnsOf(
  { name, vertices, indices }: MeshLists,
  wait: (job: ReturnType<typeof native.meshOfLists>) => Promise<native.NativeMesh>,
): Promise<readonly [ColumnRef, ColumnRef]> {
  const lists = [numbersColumn(vertices), numbersColumn(indices)] as const;
  try {
    const mesh = await wait(native.meshOfLists(lists[0].native, lists[1].native));
    return [new ColumnRef(mesh.vertices), new ColumnRef(mesh.indices)];
  } catch (raw) {
    const error = fromNative(raw);
    throw name === "mesh"
      ? error
      : new AppError(error.code, error.message.replace(/\bmesh_/g, `${name}_`), error.details);
  } finally {
    for (const list of lists) list.release();
  }
}
