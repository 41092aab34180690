import type { Command } from "commander";
import type { AnalyzeOptions } from "./options.ts";
import type { AnalyzeDeps } from "./run.ts";
import { UP_OPTION } from "./up-option.ts";

/** Runs a command once its words are known; imports what it needs only then. */
export type Perform = (work: (deps: AnalyzeDeps) => Promise<unknown>) => Promise<void>;

/** Options from commander, before their values are checked. */
interface RawAnalyzeOptions {
  readonly out: string;
  readonly format: string;
  readonly units?: string;
  readonly up?: string;
  readonly shift?: string;
  readonly columns?: string;
  readonly merge: readonly string[];
  readonly crop?: string;
  readonly filter: readonly string[];
  readonly scene?: string;
  readonly cell?: string;
  readonly project?: string;
  readonly force?: true;
  readonly points?: string;
  readonly pictureSize?: string;
  readonly json?: true;
  readonly denoise: boolean;
  readonly ground?: string | false;
  readonly dem: boolean;
}

export function addAnalyze(program: Command, perform: Perform): void {
  program
    .command("analyze")
    .description("import a point cloud and write a report, pictures and a copy")
    .argument("<file>", "point cloud file")
    .requiredOption("--out <folder>", "folder for the results, created if missing")
    .option(
      "--format <format>",
      "format of the copy: las, laz, xyz, txt, csv, asc, ply, obj, pts, ptx, pcd, e57",
      "las",
    )
    .option("--units <unit>", "unit of the file's coordinates: m, km, cm, mm, ft, ftUS, in")
    .option(...UP_OPTION)
    .option("--shift <x,y,z>", "metres to subtract from the coordinates during processing")
    .option("--columns <legend>", 'columns of a text file, such as "x y z intensity"')
    .option("--merge <file>", "another cloud, merged before all other steps; repeatable", collected, [])
    .option("--crop <box>", "keep xmin,ymin,zmin,xmax,ymax,zmax: metres, true world coordinates")
    .option(
      "--filter <rule>",
      "keep points with column=min..max or column=1,2,5; repeatable, all must match",
      collected,
      [],
    )
    .option("--scene <kind>", "airborne, plot, tree or object (default: detected, and said why)")
    .option("--cell <metres>", "cell size of terrain, surface and canopy (default: about four points per cell)")
    .option("--points <count>", "largest number of points to draw (default 3000000)")
    .option("--picture-size <pixels>", "longest side of a picture without its axes (default 1400)")
    .option("--project <file>", "write a project file (.proj) too, which open brings back with the labels")
    .option("--no-denoise", "do not label noise")
    .option(
      "--ground <method>",
      "auto, or las_classification: the ground that the file labels itself, class 2 (without: auto)",
    )
    .option("--no-ground", "do not label ground and plants")
    .option("--no-dem", "do not compute terrain, canopy and height above ground")
    .option("--force", "replace the report of an earlier run in the folder, and the project file")
    .option("--json", "write one JSON document to stdout instead of the table")
    .addHelpText("after", ANALYZE_EXAMPLES)
    .action((file: string, raw: RawAnalyzeOptions) =>
      perform(async (deps) => {
        const options = await checkedOptions(raw);
        const { analyze } = await import("./analyze.ts");
        await analyze(file, options, deps);
      }),
    );
}

const ANALYZE_EXAMPLES = `
Examples:
  npm start -- analyze plot.laz --out report --format laz
  npm start -- analyze tile_feet.las --units ft --cell 1 --out report --force
  npm start -- analyze a.laz --merge b.laz --filter las_classification=2,5 --out report`;

const collected = (text: string, before: readonly string[]): string[] => [...before, text];

async function checkedOptions(raw: RawAnalyzeOptions): Promise<AnalyzeOptions> {
  const rules = await import("./options.ts");
  const edits = await import("./edit-options.ts");
  const { parseGround } = await import("./ground.ts");
  const { DEFAULT_PICTURE_PX } = await import("../drawing/view-frame.ts");
  return {
    out: raw.out,
    format: rules.parseFormat(raw.format),
    units: raw.units === undefined ? undefined : rules.parseUnits(raw.units),
    up: raw.up === undefined ? undefined : (await import("./up.ts")).parseUp(raw.up),
    shift: raw.shift === undefined ? undefined : rules.parseShift(raw.shift),
    columns: raw.columns,
    merge: raw.merge,
    crop: raw.crop === undefined ? undefined : edits.parseCrop(raw.crop),
    filters: raw.filter.map(edits.parseFilter),
    scene: raw.scene === undefined ? undefined : rules.parseScene(raw.scene),
    project: raw.project === undefined ? undefined : (await import("./project-file.ts")).parseProject(raw.project),
    cell: raw.cell === undefined ? undefined : rules.parseCell(raw.cell),
    force: raw.force ?? false,
    points: raw.points === undefined ? rules.DEFAULT_SAMPLE_POINTS : rules.parseSamplePoints(raw.points),
    pictureSize: raw.pictureSize === undefined ? DEFAULT_PICTURE_PX : rules.parsePictureSize(raw.pictureSize),
    json: raw.json ?? false,
    denoise: raw.denoise,
    ground: raw.ground === false ? false : parseGround(raw.ground ?? "auto"),
    dem: raw.dem,
  };
}
