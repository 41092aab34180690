// The command line of `npm run accuracy`: results against clouds with known answers, as tables; docs/accuracy.md keeps a
// dated copy.
import { spawnSync } from "node:child_process";
import { parseArgs } from "node:util";
import { root } from "../bench/folders.ts";
import { runAll } from "./all.ts";
import type { Part } from "./part.ts";

function fail(message: string, code: number): never {
  console.error(message);
  process.exit(code);
}

function names(text: string | undefined, known: readonly string[], what: string): readonly string[] {
  if (text === undefined) return known;
  const wanted: string[] = [];
  for (let rest = text.split(","); rest.length > 0; ) {
    // Names may hold commas: the longest one that fits.
    let count = rest.length;
    while (count > 1 && !known.includes(rest.slice(0, count).join(","))) count -= 1;
    const name = rest.slice(0, count).join(",");
    if (!known.includes(name)) fail(`unknown ${what} ${name}; one of ${known.join("; ")}`, 2);
    wanted.push(name);
    rest = rest.slice(count);
  }
  return wanted;
}

interface Wanted {
  readonly json: boolean;
  readonly method: string | undefined;
  readonly group: string | undefined;
}

async function report<Row>(part: Part<Row>, { json, method, group }: Wanted): Promise<void> {
  const methods = names(method, part.methods, "method");
  const rows = await part.measure(methods, names(group, part.groups, "group"));
  if (rows.length === 0) fail("no cloud was measured", 1);
  if (json) {
    console.log(JSON.stringify(rows));
    return;
  }
  const commit = spawnSync("git", ["rev-parse", "--short", "HEAD"], { cwd: root, encoding: "utf8" }).stdout.trim();
  console.log(`${new Date().toISOString().slice(0, 10)}, commit ${commit}\n\n${part.tables(rows)}`);
  if (method === undefined && group === undefined) console.log(part.targets(rows));
}

/** The parts load the addon and the programs that run models, which have to be built before. */
const parts: Readonly<Record<string, (wanted: Wanted) => Promise<void>>> = {
  backfill: async (wanted) => report((await import("./backfill.ts")).backfillPart, wanted),
  cloth: async (wanted) => report((await import("./csf-reference.ts")).clothPart, wanted),
  crown: async (wanted) => report((await import("./crown.ts")).crownPart, wanted),
  wind: async (wanted) => report((await import("./wind.ts")).windPart, wanted),
  "stand-models": async (wanted) => report((await import("./stand-models.ts")).standModelsPart, wanted),
  "lost-hits": async (wanted) => report((await import("./lost-hits.ts")).lostHitsPart, wanted),
  fields: async (wanted) => report((await import("./fields.ts")).fieldsPart, wanted),
  "lad-stands": async (wanted) => report((await import("./lad-stands.ts")).ladStandsPart, wanted),
  air: async (wanted) => report((await import("./air-stands.ts")).airPart, wanted),
  photos: async (wanted) => report((await import("./photos.ts")).photosPart, wanted),
  heights: async (wanted) => report((await import("./heights.ts")).heightsPart, wanted),
  water: async (wanted) => report((await import("./water.ts")).waterPart, wanted),
  rain: async (wanted) => report((await import("./rain.ts")).rainPart, wanted),
  misfits: async (wanted) => report((await import("./misfits.ts")).misfitsPart, wanted),
  lifts: async (wanted) => report((await import("./lifts.ts")).liftsPart, wanted),
  glass: async (wanted) => report((await import("./glass.ts")).glassPart, wanted),
  rocks: async (wanted) => report((await import("./rocks.ts")).rocksPart, wanted),
  storms: async (wanted) => report((await import("./storms.ts")).stormsPart, wanted),
  streets: async (wanted) => report((await import("./streets.ts")).streetsPart, wanted),
  pots: async (wanted) => report((await import("./pots.ts")).potsPart, wanted),
  clad: async (wanted) => report((await import("./clad.ts")).cladPart, wanted),
  thick: async (wanted) => report((await import("./thick.ts")).thickPart, wanted),
  orchards: async (wanted) => report((await import("./orchards.ts")).orchardsPart, wanted),
  campaigns: async (wanted) => report((await import("./campaigns.ts")).campaignsPart, wanted),
  hidden: async (wanted) => report((await import("./hidden-stems.ts")).hiddenPart, wanted),
  cut: async (wanted) => report((await import("./cut.ts")).cutPart, wanted),
  drift: async (wanted) => report((await import("./drift.ts")).driftPart, wanted),
  dem: async () => (await import("./dem.ts")).demAccuracy(),
  denoise: async (wanted) => report((await import("./denoise.ts")).denoisePart, wanted),
  "denoise-sensitivity": async (wanted) => report((await import("./denoise-sensitivity.ts")).sensitivityPart, wanted),
  "ground-sensitivity": async (wanted) =>
    report((await import("./ground-sensitivity.ts")).groundSensitivityPart, wanted),
  "scan-triangulation": async (wanted) =>
    report((await import("./scan-triangulation.ts")).scanTriangulationPart, wanted),
  leaves: async (wanted) => report((await import("./leaves.ts")).leavesPart, wanted),
  fits: async (wanted) => report((await import("./fits.ts")).fitsPart, wanted),
  stems: async (wanted) => report((await import("./stems.ts")).stemsPart, wanted),
  surfaces: async (wanted) => report((await import("./surfaces.ts")).surfacesPart, wanted),
  scan: async (wanted) => report((await import("./scan.ts")).scanPart, wanted),
  registration: async (wanted) => report((await import("./registration.ts")).registrationPart, wanted),
  inventory: async (wanted) => report((await import("./inventory.ts")).inventoryPart, wanted),
  qsm: async (wanted) => report((await import("./qsm.ts")).qsmPart, wanted),
  lad: async (wanted) => report((await import("./lad.ts")).ladPart, wanted),
  plants: async (wanted) => report((await import("./plants.ts")).plantsPart, wanted),
  prospect: async (wanted) => report((await import("./prospect.ts")).prospectPart, wanted),
  ground: async (wanted) => report((await import("./ground.ts")).groundPart, wanted),
  "trees-reference": async (wanted) => report((await import("./trees-reference.ts")).treesReferencePart, wanted),
  rooms: async (wanted) => report((await import("./rooms.ts")).roomsPart, wanted),
  "round-trip": async (wanted) => report((await import("./round-trip.ts")).roundTripPart, wanted),
  trees: async (wanted) => report((await import("./trees-stands.ts")).treeStandsPart, wanted),
  "trees-auto": async (wanted) => report((await import("./trees-auto.ts")).treesAutoPart, wanted),
  "trees-crowns": async (wanted) => report((await import("./trees-crowns.ts")).crownsPart, wanted),
  "trees-plots": async (wanted) => report((await import("./trees-plots.ts")).treesPlotsPart, wanted),
  wood: async (wanted) => report((await import("./wood.ts")).woodPart, wanted),
  skeleton: async (wanted) => report((await import("./skeleton.ts")).skeletonPart, wanted),
  reconstruction: async (wanted) => report((await import("./reconstruction.ts")).reconstructionPart, wanted),
};

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    json: { type: "boolean", default: false },
    method: { type: "string" },
    group: { type: "string" },
    out: { type: "string", default: "build/accuracy" },
  },
});
const all = Object.keys(parts).sort();
const [name, ...wished] = positionals;
const part = positionals.length === 1 ? parts[name ?? ""] : undefined;
if (!part && name !== "all")
  fail(
    `usage: npm run accuracy -- ${all.join("|")} [--json] [--method NAME,..] [--group NAME,..]
       npm run accuracy -- all [PART ..] [--out build/accuracy]`,
    2,
  );
for (const script of ["scripts/build-native.mjs", "scripts/build-ts.mjs"]) {
  const built = spawnSync(process.execPath, [script], { cwd: root, stdio: ["ignore", 2, 2] });
  if (built.status !== 0) process.exit(1);
}
if (part) await part({ json: values.json, method: values.method, group: values.group });
else process.exitCode = (await runAll(names(wished.join(",") || undefined, all, "part"), values.out)) ? 0 : 1;
