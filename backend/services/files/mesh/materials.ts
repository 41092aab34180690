import { basename } from "node:path";
import type { Job } from "../../../jobs/job.ts";
import { fromNative } from "../../../jobs/native-error.ts";
import * as native from "../../../native/files/mesh.ts";
import { type Reference, referencedFile } from "./references.ts";

/** Definitions of the materials of a mesh by name, and what was wrong with the libraries. */
export interface Materials {
  readonly defined: ReadonlyMap<string, native.MtlMaterial>;
  readonly warnings: readonly string[];
}

/** Most sentences about one kind of file. */
const MAX_WARNINGS = 20;

/** Reads the material libraries of an OBJ file. The first definition of a name counts. A library that cannot be read is
 * reported and has no materials. */
export async function readMaterials(meshPath: string, libraries: readonly string[], job: Job): Promise<Materials> {
  const defined = new Map<string, native.MtlMaterial>();
  const warnings: string[] = [];
  const seen = new Set<string>();
  for (const line of new Set(libraries)) {
    for (const { name, file } of await librariesOf(meshPath, line, job)) {
      if ("problem" in file) {
        warnings.push(`Material library "${shown(name)}" ${file.problem}.`);
        continue;
      }
      if (seen.has(file.path)) continue;
      seen.add(file.path);
      try {
        const { materials, warnings: own } = await job.track(() => native.readMtl(file.path));
        warnings.push(...own.map((warning) => `${basename(file.path)}, ${warning}.`));
        for (const material of materials) if (!defined.has(material.name)) defined.set(material.name, material);
      } catch (error) {
        if (job.canceled) throw error;
        warnings.push(`Material library "${shown(name)}" was not read: ${fromNative(error).message}`);
      }
    }
  }
  return { defined, warnings: limited(warnings, "material libraries") };
}

/** The first warnings, and how many more there are: a hostile file causes as many as it likes. */
export function limited(warnings: readonly string[], about: string): string[] {
  const more = warnings.length - MAX_WARNINGS;
  return more > 0 ? [...warnings.slice(0, MAX_WARNINGS), `${more} more warnings about ${about}.`] : [...warnings];
}

/** The files of an mtllib line: its rest as one name, which may contain blanks, else each of its words. */
async function librariesOf(meshPath: string, line: string, job: Job): Promise<{ name: string; file: Reference }[]> {
  const whole = await referencedFile(meshPath, line);
  const words = line.split(/\s+/);
  if ("path" in whole || words.length === 1) return [{ name: line, file: whole }];
  const files: { name: string; file: Reference }[] = [];
  for (const name of new Set(words)) {
    job.checkpoint();
    files.push({ name, file: await referencedFile(meshPath, name) });
  }
  return files.some(({ file }) => "path" in file) ? files : [{ name: line, file: whole }];
}

/** A name of a file for messages. */
export const shown = (name: string): string => (name.length > 200 ? `${name.slice(0, 200)}...` : name);
