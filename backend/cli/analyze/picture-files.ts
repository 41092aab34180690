import { fitPictures } from "../drawing/embedded-size.ts";
import { decodePng, framedPicture } from "../drawing/framed-picture.ts";
import { CLASS_COLORS, TERRAIN_COLOR } from "../drawing/ground-profile.ts";
import type { Picture } from "../drawing/render.ts";
import { MODE_TITLES, pointBar } from "../report/figure.ts";
import { type ReportInput, reportHtml } from "../report/report.ts";
import { rasterBar, type TerrainPictures } from "../report/terrain-report.ts";

type Shift = readonly [number, number, number];

interface PictureFile {
  readonly name: string;
  readonly png: Uint8Array;
}

/** The pictures as files of their own, with title, axes, scale bar, legend and north arrow in them. */
export async function pictureFiles(
  pictures: readonly Picture[],
  { rasters, profile }: TerrainPictures,
  world_shift: Shift,
): Promise<PictureFile[]> {
  // Together: their compression runs in libuv's pool.
  const points = pictures.map(async ({ frame, scale, png }) => {
    const title = `${frame.view.title}, ${MODE_TITLES[scale.mode]}`;
    const bar = pointBar(scale, world_shift);
    const framed = await framedPicture(decodePng(png), { title, frame, world_shift, bar });
    return { name: `${frame.view.name}_${scale.mode}.png`, png: framed };
  });
  const terrain = rasters.map(async (picture) => {
    const { title, frame } = picture;
    const bar = rasterBar(picture, world_shift);
    const framed = await framedPicture(decodePng(picture.png), { title, frame, world_shift, bar });
    return { name: `${picture.name}.png`, png: framed };
  });
  return Promise.all([...points, ...terrain, ...(profile ? [profileFile(profile, world_shift)] : [])]);
}

async function profileFile(
  { frame, counts, terrain, png }: NonNullable<TerrainPictures["profile"]>,
  world_shift: Shift,
): Promise<PictureFile> {
  const classes = (["ground", "plant", "noise"] as const)
    .filter((name) => counts[name] > 0)
    .map((name) => ({ color: CLASS_COLORS[name], text: name === "plant" ? "not ground" : name }));
  const legend = terrain.length > 0 ? [...classes, { color: TERRAIN_COLOR, text: "terrain" }] : classes;
  const title = "Profile of the ground";
  const framed = await framedPicture(decodePng(png), { title, frame, world_shift, bar: null, legend });
  return { name: "ground_profile.png", png: framed };
}

/** Largest report, bytes. */
export const REPORT_BYTES = 5_000_000;
/** Room for what differs between two renderings, such as digits of sizes. */
const SLACK_BYTES = 10_000;
const NOTHING = new Uint8Array(0);

/** The report with its pictures reduced, where needed, so that it stays below REPORT_BYTES. */
export async function smallReport(input: ReportInput): Promise<string> {
  const { pictures, terrainPictures } = input;
  const { rasters, profile } = terrainPictures;
  const all = [...pictures, ...rasters, ...(profile ? [profile] : [])];
  const withPngs = (pngs: readonly Uint8Array[]): ReportInput => {
    const png = (k: number) => pngs[k] ?? NOTHING;
    return {
      ...input,
      pictures: pictures.map((picture, k) => ({ ...picture, png: png(k) })),
      terrainPictures: {
        rasters: rasters.map((picture, k) => ({ ...picture, png: png(pictures.length + k) })),
        profile: profile && { ...profile, png: png(pictures.length + rasters.length) },
      },
    };
  };
  const text = Buffer.byteLength(reportHtml(withPngs([])));
  const pngs = await fitPictures(
    all.map(({ png }) => png),
    REPORT_BYTES - text - SLACK_BYTES,
  );
  return reportHtml(withPngs(pngs));
}
