import { basename, dirname } from "node:path";
import { jsonDocument } from "../analyze/json-document.ts";
import { describeVersions } from "../analyze/record.ts";
import type { AnalyzeDeps } from "../analyze/run.ts";
import { Stopwatch } from "../analyze/stopwatch.ts";
import { plainNumber, shortNumber } from "../drawing/round-steps.ts";
import type { Fact } from "../report/summary.ts";
import { terminalTable } from "../report/terminal.ts";
import { runInFolder, shown } from "../run/folder-run.ts";
import { reportedWarnings } from "../wording.ts";
import { checkTargets, formatWarnings, ORGANS, writeFiles } from "./files.ts";
import { type GrownPlant, grownPlant, knownSpecies } from "./grow.ts";
import type { PlantOptions } from "./options.ts";
import { plantPicture } from "./picture.ts";

const count = (value: number) => plainNumber(value, 0);
const short = (value: number) => shortNumber(Number(value.toPrecision(4)));

/**
 * Grows a plant or a canopy and writes its mesh and picture, all files or, after a cancel or failure, none.
 * Errors: those of the options and the client; invalid_argument for an unknown species, and for outputs that are there already.
 */
export async function growMesh(id: string, options: PlantOptions, deps: AnalyzeDeps): Promise<void> {
  await checkTargets(options);
  // What the run replaces is checked file by file, not by the report of an earlier run.
  await runInFolder({ out: dirname(options.file), force: true }, deps, async (run) => {
    const clock = new Stopwatch();
    const { progress, signal, out, client } = run;
    const species = await knownSpecies(client, id, signal);
    progress.stage(`Growing ${species.id}`);
    const grown = await grownPlant(client, species, options, shown(run));
    clock.lap("grow");
    if (options.picture !== null) {
      progress.stage("Drawing the picture");
      const png = await plantPicture(grown.mesh, title(grown, options), options.pictureSize, signal);
      await out.write(basename(options.picture), png);
      clock.lap("draw");
    }
    progress.stage("Writing the mesh");
    const files = await writeFiles(grown.mesh, options, run);
    clock.lap("write");
    const document = {
      ...described(grown, options),
      outputs: {
        mesh: options.file,
        files: files.map((name) => out.final(name)),
        picture: options.picture,
      },
      warnings: warnings(grown, options),
      versions: await describeVersions(client, signal),
      seconds: clock.seconds(),
    };
    const { outputs } = document;
    const facts: Fact[] = [
      ...plantFacts(grown, options),
      ["Mesh", outputs.mesh],
      ...outputs.files.slice(1).map((path): Fact => ["Beside it", basename(path)]),
      ...(outputs.picture === null ? [] : [["Picture", outputs.picture] as const]),
    ];
    deps.stdout.write(options.json ? jsonDocument(document) : terminalTable(facts, document.warnings));
  });
}

const reached = ({ meta }: GrownPlant, { age }: PlantOptions) => meta.age_reached ?? age;

function title(grown: GrownPlant, options: PlantOptions): string {
  const { species, meta } = grown;
  const grid = options.canopy ? `, ${options.canopy.count.join(" x ")} plants` : "";
  const height = options.canopy || meta.height == null ? "" : `, ${short(meta.height)} m high`;
  return `${species.name}, ${short(reached(grown, options))} days${grid}${height}, seed ${meta.random_seed}`;
}

function warnings(grown: GrownPlant, options: PlantOptions): string[] {
  const { id } = grown.species;
  const isOlder = options.age > reached(grown, options);
  return reportedWarnings([
    ...(isOlder
      ? [`${id} grows for ${reached(grown, options)} days: --age ${options.age} gives the plant of that age.`]
      : []),
    ...(grown.meta.warnings ?? []),
    ...formatWarnings(grown.mesh, options.format),
  ]);
}

function described(grown: GrownPlant, options: PlantOptions) {
  const { species, meta } = grown;
  const { canopy, format } = options;
  return {
    species: { id: species.id, name: species.name, scientific_name: species.scientific_name },
    plant: {
      seed: meta.random_seed,
      age_days: reached(grown, options),
      plant_count: canopy ? meta.plant_count : 1,
      height_m: meta.height ?? null,
      leaf_area_m2: meta.leaf_area_m2 ?? null,
      wood_volume_m3: meta.wood_volume_m3 ?? null,
    },
    mesh: { format, triangle_count: meta.triangle_count, textures: grown.mesh.textures.map(({ name }) => name) },
    parameters: {
      age: options.age,
      seed: options.seed,
      canopy: canopy?.count ?? null,
      spacing_m: canopy?.spacing ?? null,
      picture_size: options.pictureSize,
    },
  };
}

function plantFacts(grown: GrownPlant, options: PlantOptions): Fact[] {
  const { species, meta } = grown;
  const facts: Fact[] = [
    ["Species", `${species.name} (${species.scientific_name})`],
    ["Age", `${short(reached(grown, options))} days`],
    // Not grouped by blanks: it is copied to --seed.
    ["Seed", String(meta.random_seed)],
  ];
  if (options.canopy) facts.push(["Plants", count(meta.plant_count ?? 0)]);
  if (meta.height != null)
    facts.push([options.canopy ? "Height of the first plant" : "Height", `${short(meta.height)} m`]);
  if (meta.leaf_area_m2 !== undefined) facts.push(["Leaf area", `${short(meta.leaf_area_m2)} m²`]);
  if (meta.wood_volume_m3 !== undefined) facts.push(["Volume of shoots", `${short(meta.wood_volume_m3)} m³`]);
  facts.push(["Triangles", count(meta.triangle_count)], ["Organ codes", ORGANS[options.format]]);
  return facts;
}
