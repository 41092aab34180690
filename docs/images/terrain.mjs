// Makes terrain.png: `node docs/images/terrain.mjs <folder at 900> <folder at 1812>`, two outputs of
// `npm start -- analyze pyfor_pine_200m.laz --out <folder> --picture-size <900 or 1812>`.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { PNG } from "pngjs";

const [small, large] = process.argv.slice(2);
const read = (folder, name) => PNG.sync.read(readFileSync(join(folder, `${name}.png`)));
const [terrain, canopy] = ["dtm_hillshade", "chm"].map((name) => read(small, name));
const profile = read(large, "ground_profile");
const GAP = 12;
const MARGIN = 8;

/** First and last row of the profile that is not white. */
const drawn = Array.from({ length: profile.height }, (_, y) => y).filter((y) => {
  const row = profile.data.subarray(4 * y * profile.width, 4 * (y + 1) * profile.width);
  return row.some((value) => value < 240);
});
const top = drawn[0] - MARGIN;
const rows = drawn.at(-1) + MARGIN - top;

const width = terrain.width + GAP + canopy.width;
const out = new PNG({ width, height: terrain.height + GAP + rows });
out.data.fill(255);
PNG.bitblt(terrain, out, 0, 0, terrain.width, terrain.height, 0, 0);
PNG.bitblt(canopy, out, 0, 0, canopy.width, canopy.height, terrain.width + GAP, 0);
PNG.bitblt(profile, out, 0, top, Math.min(width, profile.width), rows, 0, terrain.height + GAP);
writeFileSync(new URL("terrain.png", import.meta.url), PNG.sync.write(out, { colorType: 2, deflateLevel: 9 }));
