import { AppError } from "../../../shared/errors.ts";
import { CATALOG_VERSION, type Catalog, type CatalogFile } from "../catalog/document.ts";

const bad = (message: string) => new AppError("invalid_argument", message);

/** Errors: invalid_argument for a catalogue that no tiles can be made of. */
export function checkCatalog({ version, layout, files, crs, point_formats, density }: Catalog): void {
  if (version !== CATALOG_VERSION)
    throw bad(`the catalogue has version ${version}, not ${CATALOG_VERSION}; make it anew`);
  const kinds = (list: readonly { readonly value: string | number }[]) => list.map(({ value }) => value).join(", ");
  if (crs.length > 1)
    throw bad(`the files are in different coordinate systems (${kinds(crs)}); make one catalogue of each`);
  if (files.some(({ is_geographic }) => is_geographic) || density === null)
    throw bad("the coordinates are in degrees; project the files to a system in metres first");
  const scaled = files.find(({ unit_m, vertical_unit_m }) => (unit_m ?? 1) !== 1 || (vertical_unit_m ?? 1) !== 1);
  if (scaled) throw bad(`${scaled.name} is not in metres; convert the files first`);
  const lengths = [...new Set(files.map(({ record_bytes }) => record_bytes))];
  if (point_formats.length > 1 || (lengths.length > 1 && files.every(({ compressed }) => !compressed)))
    throw bad(
      `the files have different point records (formats ${kinds(point_formats)}, ${lengths.join(", ")} bytes); write them alike first`,
    );
  const steps = new Map(files.map(({ name, scale }) => [scale.join(" "), name]));
  if (steps.size > 1)
    throw bad(
      `the files have different scale factors (${[...steps].map(([scale, name]) => `${scale}: ${name}`).join("; ")}); write them alike first`,
    );
  if (!(layout.covered_m2 > 0)) throw bad("the files cover no area");
  const braced = files.find(({ path }) => /[{}]/.test(path));
  if (braced)
    throw bad(`${braced.path}: Snakemake takes braces in a path for a placeholder; rename the file or folder`);
  const twins = twinFiles(files);
  if (twins)
    throw bad(`${twins.join(" and ")} declare the same points in the same box; make a catalogue with one of them`);
}

/** One file under two names, such as LAS and LAZ: its points would count twice. */
function twinFiles(files: readonly CatalogFile[]): readonly [string, string] | null {
  const known = new Map<string, string>();
  for (const { path, points, bounds } of files) {
    const rounded = [...bounds.min, ...bounds.max].map((value) => value.toFixed(3));
    const key = [points, ...rounded].join(" ");
    const twin = known.get(key);
    if (twin !== undefined) return [twin, path];
    known.set(key, path);
  }
  return null;
}
