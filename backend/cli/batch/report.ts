import { join } from "node:path";
import { fillBox } from "../catalog/picture.ts";
import { type Rgb, rampColor } from "../drawing/color-ramp.ts";
import { framedPicture } from "../drawing/framed-picture.ts";
import { plainNumber, shortNumber } from "../drawing/round-steps.ts";
import { VIEWS, type View, viewFrame } from "../drawing/view-frame.ts";
import { MapCanvas } from "../inventory/map-canvas.ts";
import { smallPage } from "../report/page.ts";
import type { Fact } from "../report/summary.ts";
import { lastLine } from "./batch-log.ts";
import { PLACES, readJson, writeJson, writeWhole } from "./folders.ts";
import type { SurveyFrame } from "./measure.ts";
import type { Merged } from "./merge.ts";
import type { Plan } from "./plan-document.ts";
import type { TileResult, TileTimes } from "./tile-result.ts";

const FAILED: Rgb = [0xd6, 0x27, 0x28];
const EMPTY: Rgb = [0xc8, 0xcc, 0xca];
const EDGE: Rgb = [0x1d, 0x24, 0x20];
const [TOP_VIEW] = VIEWS as readonly [View, ...View[]];
/** Warnings of tiles in the report; all are in summary.json. */
const MOST_SHOWN = 20;

const metres = (value: number) => `${shortNumber(value)} m`;

/** What the plan says, for the terminal and the report. */
export function planFacts(plan: Plan): Fact[] {
  const { workflow, tiles, files } = plan;
  const steps = Object.keys(workflow).filter((name) => name !== "tiles" && name in workflow);
  const buffers = Object.entries(plan.buffers).map(([step, length]) => `${step} ${shortNumber(length)}`);
  const largest = tiles.reduce((most, tile) => Math.max(most, tile.points), 0);
  return [
    ["Steps", steps.join(", ")],
    ["Files, tiles", `${plainNumber(files.length, 0)}, ${plainNumber(tiles.length, 0)} of ${metres(plan.tile_m)}`],
    ["Buffer", `${metres(plan.buffer_m)} (${buffers.join(", ")})`],
    ["Largest tile", `about ${plainNumber(largest, 0)} points with its buffer`],
    [
      "Memory of a job",
      `up to ${plainNumber(
        tiles.reduce((most, tile) => Math.max(most, tile.mem_mb), 0),
        0,
      )} MB`,
    ],
    ...(workflow.rasters ? [["Cells", metres(workflow.rasters.cell_m ?? 1)] as const] : []),
    ["Derived for all tiles", plan.derived.length > 0 ? plan.derived.join(", ") : "nothing"],
  ];
}

interface TileState {
  readonly result: TileResult | null;
  readonly times: TileTimes | null;
}

/** Writes report, map and summary of a batch. `missing`: tiles that failed. */
export async function reportBatch(root: string, plan: Plan, missing: readonly string[], pixels: number) {
  const states = new Map<string, TileState>();
  for (const { id } of plan.tiles) {
    const isThere = !missing.includes(id);
    states.set(id, {
      result: isThere ? await readJson<TileResult>(join(root, PLACES.result(id))) : null,
      times: isThere ? await readJson<TileTimes>(join(root, PLACES.times(id))).catch(() => null) : null,
    });
  }
  const survey = plan.windows.length > 0 ? await readJson<SurveyFrame>(join(root, PLACES.frame)) : null;
  const { numbers: _, ...merged } = await readJson<Merged>(join(root, PLACES.numbers));
  const failed: { readonly tile: string; readonly reason: string }[] = [];
  for (const tile of missing) failed.push({ tile, reason: await lastLine(root, tile) });
  const tileWarnings = plan.tiles.flatMap(({ id }) =>
    (states.get(id)?.result?.warnings ?? []).map((text) => ({ tile: id, text })),
  );
  const warnings = [
    ...failed.map(({ tile, reason }) => `Tile ${tile} failed and is missing in the results: ${reason}`),
    ...(survey?.warnings ?? []),
    ...plan.warnings,
    ...merged.warnings,
    ...grouped(tileWarnings),
  ];
  const seconds = [...states.values()].map(({ times }) => times?.seconds.total ?? 0);
  const document = {
    name: plan.name,
    tiles: plan.tiles.length,
    failed,
    trees: merged.tree_count,
    measured: merged.measured_count,
    no_trees: merged.no_tree_count,
    stand: merged.stand,
    workflow: plan.workflow,
    derived: plan.derived,
    buffer_m: plan.buffer_m,
    outputs: {
      merged: merged.outputs.map((name) => join(root, PLACES.merged, name)),
      clouds: join(root, "clouds"),
      report: join(root, "report.html"),
    },
    job_seconds: seconds.reduce((a, b) => a + b, 0),
    peak_rss_mb: [...states.values()].reduce((most, { times }) => Math.max(most, times?.peak_rss_mb ?? 0), 0),
    warnings,
    tile_warnings: tileWarnings,
  };
  await writeJson(join(root, "summary.json"), document);
  const png = await tileMap(plan, states, pixels);
  await writeWhole(join(root, "tiles.png"), png);
  const facts: Fact[] = [
    ["Tiles", `${plainNumber(plan.tiles.length - failed.length, 0)} of ${plainNumber(plan.tiles.length, 0)}`],
    ...(plan.workflow.trees ? [["Trees", plainNumber(merged.tree_count, 0)] as const] : []),
    ...(plan.workflow.inventory ? [["Measured", plainNumber(merged.measured_count, 0)] as const] : []),
    ...(merged.no_tree_count > 0
      ? [["Of these walls, wires, rain and images in glass: no trees", plainNumber(merged.no_tree_count, 0)] as const]
      : []),
    ["Time of all jobs", `${plainNumber(document.job_seconds, 1)} s`],
    ["Most memory of a job", `${plainNumber(document.peak_rss_mb, 0)} MB`],
    ["Results", `${merged.outputs.join(", ")} in ${join(root, PLACES.merged)}`],
    ["Labelled clouds", join(root, "clouds")],
    ["Report", join(root, "report.html")],
  ];
  await writeWhole(
    join(root, "report.html"),
    await smallPage({
      kicker: "Batch over tiles",
      title: plan.name,
      created: new Date(),
      tiles: [
        [plainNumber(plan.tiles.length - failed.length, 0), "tiles"],
        ...(failed.length > 0 ? [[plainNumber(failed.length, 0), "failed"] as const] : []),
        ...(plan.workflow.trees ? [[plainNumber(merged.tree_count, 0), "trees"] as const] : []),
      ],
      warnings,
      sections: [
        { title: "Results", facts },
        { title: "Plan", facts: planFacts(plan) },
        { title: "Tiles", figures: [{ title: "Seconds of each tile", png }] },
      ],
      footer:
        "Beside this report: summary.json, workflow.yml, plan.json, the folder merged with rasters and lists, clouds with the labelled points, tiles with what each job found, and logs.",
    }),
  );
  return { document, facts };
}

/** Each text once, with the number of its tiles. */
function grouped(warnings: readonly { readonly tile: string; readonly text: string }[]): string[] {
  const tiles = new Map<string, string[]>();
  for (const { tile, text } of warnings) tiles.set(text, [...(tiles.get(text) ?? []), tile]);
  const all = [...tiles].sort((a, b) => b[1].length - a[1].length);
  const shown = all
    .slice(0, MOST_SHOWN)
    .map(([text, list]) => `${list.length === 1 ? list[0] : `${list.length} tiles`}: ${text}`);
  return all.length > MOST_SHOWN
    ? [...shown, `${all.length - MOST_SHOWN} more kinds of warnings are in summary.json.`]
    : shown;
}

function tileMap(plan: Plan, states: ReadonlyMap<string, TileState>, pixels: number): Promise<Uint8Array> {
  const end = (k: 0 | 1 | 2 | 3, pick: (a: number, b: number) => number) =>
    plan.tiles.map(({ core }) => core[k]).reduce((a, b) => pick(a, b));
  const box = {
    min: [end(0, Math.min), end(1, Math.min), 0] as const,
    max: [end(2, Math.max), end(3, Math.max), 0] as const,
  };
  const frame = viewFrame(TOP_VIEW, { min: [...box.min], max: [...box.max] }, pixels);
  const map = new MapCanvas(frame);
  const times = [...states.values()].flatMap(({ times: of }) => (of ? [of.seconds.total ?? 0] : []));
  const range = [0, times.reduce((a, b) => Math.max(a, b), 0) || 1] as const;
  for (const { id, core } of plan.tiles) {
    const place = { min: [core[0], core[1]], max: [core[2], core[3]] };
    const state = states.get(id);
    const total = state?.times?.seconds.total ?? 0;
    const color = !state?.result
      ? FAILED
      : state.result.core_points === 0
        ? EMPTY
        : rampColor("viridis", total / range[1]);
    fillBox(map, place, EDGE);
    fillBox(map, place, color, 1);
  }
  return framedPicture(map.canvas, {
    title: `${plan.tiles.length} tiles`,
    frame,
    world_shift: [0, 0, 0],
    bar: { ramp: "viridis", range, unit: "seconds" },
    legend: [
      { color: FAILED, text: "failed" },
      { color: EMPTY, text: "empty" },
    ],
  });
}
