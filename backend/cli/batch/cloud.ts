import { mkdir, open, rename, rm, stat } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { AppError } from "../../../shared/errors.ts";
import { withBackend } from "../analyze/backend.ts";
import type { AnalyzeDeps, StartBackend } from "../analyze/run.ts";
import { inWorkFolder, PLACES, readJson, writeWhole } from "./folders.ts";
import { readLayout } from "./las-layout.ts";
import { columnReader, columnWriter, recordBlocks } from "./las-records.ts";
import type { Merged } from "./merge.ts";
import { readOwnPlan } from "./program.ts";

const TREE = "tree_instance";

/** Writes the labelled points of a tile, with the numbers that its trees have in the whole, as LAZ. */
export async function writeCloud(out: string, id: string, deps: AnalyzeDeps): Promise<void> {
  const root = resolve(out);
  const plan = await readOwnPlan(root);
  const labels = join(root, PLACES.labels(id));
  const { size } = await stat(labels);
  if (size === 0) await rm(join(root, PLACES.cloud(id)), { force: true }); // of input that has changed
  if (size > 0) {
    await inWorkFolder(root, `cloud-${id}`, deps, async (folder, startBackend) => {
      const renumbered = join(folder, "renumbered.las");
      const { numbers } = await readJson<Merged>(join(root, PLACES.numbers));
      await renumber(labels, renumbered, plan.workflow.trees ? new Map(numbers[id] ?? []) : null, deps.signal);
      const laz = join(folder, "cloud.laz");
      await convert(renumbered, laz, plan.shift, startBackend, deps.signal);
      const target = join(root, PLACES.cloud(id));
      await mkdir(dirname(target), { recursive: true });
      await rename(laz, target);
    });
  }
  await writeWhole(join(root, PLACES.cloudDone(id)), "");
}

/** Writes an uncompressed copy of a LAZ file, which the jobs of its tiles cut. */
export async function unpackFile(out: string, id: string, deps: AnalyzeDeps): Promise<void> {
  const root = resolve(out);
  const plan = await readOwnPlan(root);
  const file = plan.files.find((one) => one.id === id);
  if (!file) throw new AppError("not_found", `the plan has no file ${id}`);
  await inWorkFolder(root, `unpack-${id}`, deps, async (folder, startBackend) => {
    const las = join(folder, "file.las");
    await convert(file.path, las, plan.shift, startBackend, deps.signal);
    const target = join(root, PLACES.unpacked(id));
    await mkdir(dirname(target), { recursive: true });
    await rename(las, target);
  });
}

async function convert(
  from: string,
  to: string,
  shift: readonly [number, number, number],
  startBackend: StartBackend,
  signal: AbortSignal,
): Promise<void> {
  await withBackend({ startBackend }, async (client) => {
    const { session_id } = await client.createSession({ source_path: from, world_shift: [...shift] }, { signal });
    const format = to.endsWith(".laz") ? "laz" : "las";
    await client.exportCloud({ source: { session_id }, format, dest_path: to, columns: null }, { signal });
  });
}

/** Copies a LAS file with new numbers of trees; a tree that is not among them has 0. Null: no trees. */
async function renumber(
  from: string,
  to: string,
  numbers: ReadonlyMap<number, number> | null,
  signal: AbortSignal,
): Promise<void> {
  const [source, target] = [await open(from), await open(to, "wx")];
  try {
    const layout = await readLayout(source, from);
    await target.write(layout.head, 0, layout.head.length, 0);
    let at = layout.head.length;
    for await (const bytes of recordBlocks(source, layout)) {
      signal.throwIfAborted();
      if (numbers) {
        const [read, write] = [columnReader(layout, TREE), columnWriter(layout, TREE)];
        for (let row = 0; row < bytes.length; row += layout.stride) {
          const id = read(bytes, row);
          if (id !== 0) write(bytes, row, numbers.get(id) ?? 0);
        }
      }
      await target.write(bytes, 0, bytes.length, at);
      at += bytes.length;
    }
  } finally {
    await source.close();
    await target.close();
  }
}
