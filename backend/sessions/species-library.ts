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
 * The species files of the product and of the user's folder; a file there with the id of a bundled species takes its place,
 * if it can be used. A bundled file is read once, when its species is first asked
 * for: all of them take a quarter of a second. The user's are read whenever they have changed; one that cannot be used is
 * reported and hides no other.
 */
export class SpeciesLibrary {
  readonly #userFolder: string | undefined;
  readonly #read = new Map<string, ReadFile>();
  readonly #bundled = new Map<string, Promise<Species>>();
  #ids: Promise<ReadonlySet<string>> | undefined;

  constructor(userFolder?: string) {
    this.#userFolder = userFolder;
  }

  /** Errors: internal if the bundled files cannot be read. */
  async list(): Promise<SpeciesList> {
    const ids = await this.#bundledIds();
    const { species, problems } = await this.#userSpecies(ids);
    const own = new Set(species.map(({ file: { id } }) => id));
    const kept = [...ids].filter((id) => !own.has(id));
    const bundled = await Promise.all(kept.map((id) => this.#bundledSpecies(id)));
    const all = [...bundled, ...species].sort((a, b) => (a.file.id < b.file.id ? -1 : 1));
    return { species: all, problems };
  }

  /** undefined for an unknown id. Errors: internal if its bundled file cannot be read. */
  async find(id: string): Promise<Species | undefined> {
    const ids = await this.#bundledIds();
    const { species } = await this.#userSpecies(ids);
    const own = species.find(({ file }) => file.id === id);
    return own ?? (ids.has(id) ? this.#bundledSpecies(id) : undefined);
  }

  #bundledIds(): Promise<ReadonlySet<string>> {
    this.#ids ??= bundledIds().catch((error: unknown) => {
      this.#ids = undefined; // the next request tries again
      throw error;
    });
    return this.#ids;
  }

  #bundledSpecies(id: string): Promise<Species> {
    const known = this.#bundled.get(id);
    if (known) return known;
    const read = readBundled(id).catch((error: unknown) => {
      this.#bundled.delete(id); // the next request tries again
      throw error;
    });
    this.#bundled.set(id, read);
    return read;
  }

  async #userSpecies(bundled: ReadonlySet<string>): Promise<SpeciesList> {
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
      const problem = "problem" in result ? result.problem : clash(result.species, file, found);
      if (problem) problems.push({ file, ...withStandIn(problem, file, bundled) });
      else if ("species" in result) found.set(result.species.file.id, result.species);
    }
    return { species: [...found.values()], problems };
  }

  async #fileOf(path: string): Promise<ReadFile["result"]> {
    try {
      const info = await stat(path);
      if (!info.isFile()) return { problem: { line: null, reason: "it is not a regular file" } };
      const { size, mtimeMs } = info;
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

/** A bundled file has the name of its species. */
async function bundledIds(): Promise<ReadonlySet<string>> {
  const files = (await readdir(resourceFolder("species"))).filter((file) => file.endsWith(".json"));
  if (files.length === 0) throw new AppError("internal", "resources/species has no species");
  return new Set(files.map((file) => file.slice(0, -".json".length)).sort());
}

async function readBundled(id: string): Promise<Species> {
  const result = speciesOf(await readFile(join(resourceFolder("species"), `${id}.json`), "utf8"), "bundled");
  if ("problem" in result) {
    const { line, reason } = result.problem;
    throw new AppError("internal", `resources/species/${id}.json, line ${line ?? "?"}: ${reason}`);
  }
  const { species } = result;
  if (species.file.id !== id)
    throw new AppError("internal", `resources/species/${id}.json has the id ${species.file.id}`);
  return species;
}

function clash({ file: { id } }: Species, file: string, found: ReadonlyMap<string, Species>): FileProblem | null {
  if (`${id}.json` !== file) return { line: null, reason: `its id is "${id}", so its name must be ${id}.json` };
  return found.has(id) ? { line: null, reason: `another file has the id "${id}"` } : null;
}

/** Says which species grows instead of one that cannot be used. */
function withStandIn({ line, reason }: FileProblem, file: string, bundled: ReadonlySet<string>): FileProblem {
  const id = file.slice(0, -".json".length);
  return bundled.has(id) ? { line, reason: `${reason}; the bundled ${id} is used` } : { line, reason };
}
