import { readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { AppError } from "../../shared/errors.ts";
import { MAX_SPECIES_FILES } from "../../shared/limits.ts";
import { resourceFolder } from "../native/core/resources.ts";
import { type NativeSpecies, openPlantSpecies } from "../native/plants/plants.ts";
import { type FileProblem, type LibrarySpecies, readSpecies, tooLarge } from "./species-file.ts";

/** A species that can grow. */
export interface Species {
  readonly file: LibrarySpecies;
  readonly origin: "bundled" | "user";
  /** Growth parameters and prototypes in native memory, made when first needed. Errors: invalid_file. */
  native(): Promise<NativeSpecies>;
}

export interface UserFileProblem extends FileProblem {
  readonly file: string;
}

export interface SpeciesList {
  /** Sorted by id. */
  readonly species: readonly Species[];
  readonly problems: readonly UserFileProblem[];
}

interface ReadFile {
  /** Size and time of the file that was read. */
  readonly stamp: string;
  readonly result: { species: Species } | { problem: FileProblem };
}

/**
 * The species files of the product and of the user's folder. Bundled files are read once, the user's whenever they have
 * changed. A file of the user that cannot be used is reported and hides no other.
 */
export class SpeciesLibrary {
  readonly #userFolder: string | undefined;
  readonly #read = new Map<string, ReadFile>();
  #bundled: Promise<Map<string, Species>> | undefined;

  constructor(userFolder?: string) {
    this.#userFolder = userFolder;
  }

  /** Errors: internal if the bundled files cannot be read. */
  async list(): Promise<SpeciesList> {
    const bundled = await this.#bundledSpecies();
    const { species, problems } = await this.#userSpecies(bundled);
    const all = [...bundled.values(), ...species].sort((a, b) => (a.file.id < b.file.id ? -1 : 1));
    return { species: all, problems };
  }

  /** undefined for an unknown id. */
  async find(id: string): Promise<Species | undefined> {
    const bundled = (await this.#bundledSpecies()).get(id);
    return bundled ?? (await this.list()).species.find(({ file }) => file.id === id);
  }

  async #bundledSpecies(): Promise<Map<string, Species>> {
    this.#bundled ??= readBundled();
    try {
      return await this.#bundled;
    } catch (error) {
      this.#bundled = undefined; // the next request tries again
      throw error;
    }
  }

  async #userSpecies(bundled: ReadonlyMap<string, Species>): Promise<SpeciesList> {
    const folder = this.#userFolder;
    if (folder === undefined) return { species: [], problems: [] };
    const problems: UserFileProblem[] = [];
    const names = await readdir(folder).catch((error: Error) => {
      problems.push({ file: "", line: null, reason: `the folder cannot be read: ${error.message}` });
      return [];
    });
    const files = names.filter((name) => name.toLowerCase().endsWith(".json")).sort();
    if (files.length > MAX_SPECIES_FILES) {
      const reason = `the folder has ${files.length} files; those after the first ${MAX_SPECIES_FILES} are not read`;
      problems.push({ file: "", line: null, reason });
    }
    const found = new Map<string, Species>();
    for (const file of files.slice(0, MAX_SPECIES_FILES)) {
      const result = await this.#fileOf(join(folder, file));
      const problem = "problem" in result ? result.problem : clash(result.species, file, bundled, found);
      if (problem) problems.push({ file, ...problem });
      else if ("species" in result) found.set(result.species.file.id, result.species);
    }
    return { species: [...found.values()], problems };
  }

  async #fileOf(path: string): Promise<ReadFile["result"]> {
    try {
      const { size, mtimeMs } = await stat(path);
      const stamp = `${size} ${mtimeMs}`;
      const known = this.#read.get(path);
      if (known?.stamp === stamp) return known.result;
      const large = tooLarge(size);
      const result = large ? { problem: large } : speciesOf(await readFile(path, "utf8"), "user");
      this.#read.set(path, { stamp, result });
      return result;
    } catch (error) {
      return { problem: { line: null, reason: `it cannot be read: ${(error as Error).message}` } };
    }
  }
}

function speciesOf(text: string, origin: Species["origin"]): ReadFile["result"] {
  const read = readSpecies(text);
  if ("problem" in read) return read;
  const { species: file } = read;
  let opened: Promise<NativeSpecies> | undefined;
  const native = () => {
    const { shapes, name: _name, scientific_name: _botany, group: _group, expected: _, sources: __, ...growth } = file;
    opened ??= openPlantSpecies(growth, shapes).promise.catch((error: Error) => {
      throw new AppError("invalid_file", `species ${file.id}: ${error.message}`, undefined, { cause: error });
    });
    return opened;
  };
  return { species: { file, origin, native } };
}

async function readBundled(): Promise<Map<string, Species>> {
  const folder = resourceFolder("species");
  const species = new Map<string, Species>();
  for (const name of (await readdir(folder)).filter((file) => file.endsWith(".json")).sort()) {
    const result = speciesOf(await readFile(join(folder, name), "utf8"), "bundled");
    if ("problem" in result) {
      const { line, reason } = result.problem;
      throw new AppError("internal", `resources/species/${name}, line ${line ?? "?"}: ${reason}`);
    }
    species.set(result.species.file.id, result.species);
  }
  if (species.size === 0) throw new AppError("internal", "resources/species has no species");
  return species;
}

function clash(
  { file: { id } }: Species,
  file: string,
  bundled: ReadonlyMap<string, Species>,
  found: ReadonlyMap<string, Species>,
): FileProblem | null {
  if (`${id}.json` !== file) return { line: null, reason: `its id is "${id}", so its name must be ${id}.json` };
  if (bundled.has(id)) return { line: null, reason: `"${id}" is a bundled species; choose another id` };
  return found.has(id) ? { line: null, reason: `another file has the id "${id}"` } : null;
}
