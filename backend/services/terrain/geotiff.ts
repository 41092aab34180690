import type { ExportRasterRequest } from "../../../shared/contract/dem.ts";

/*
 * Little-endian baseline TIFF 6.0 with one image of one band, uncompressed float32, one strip, and the GeoTIFF tags
 * (OGC 19-008r4):
 *
 * offset        size      meaning
 * 0             8         "II", 42, offset of the directory (8)
 * 8             2 + 12 n + 4   directory: count, entries by tag (tag u16, type u16, count u32, value or offset u32), 0
 * then          -         values longer than 4 bytes, each at an even offset
 * then          4 nx ny   rows from north to south
 */

const SHORT = 3;
const LONG = 4;
const ASCII = 2;
const DOUBLE = 12;
const SIZES: Readonly<Record<number, number>> = { [SHORT]: 2, [LONG]: 4, [ASCII]: 1, [DOUBLE]: 8 };

interface Tag {
  readonly id: number;
  readonly type: number;
  readonly values: readonly number[];
}

/** What precedes the image of a GeoTIFF: north up, pixel is area, voids hold `nodata`. */
export function geoTiffHead(raster: ExportRasterRequest): Uint8Array<ArrayBuffer> {
  const { nx, ny, cell_size, origin, nodata, crs_epsg } = raster;
  const geographic = raster.crs_is_geographic ?? isGeographic(crs_epsg ?? 0);
  const tags: Tag[] = [
    { id: 256, type: LONG, values: [nx] },
    { id: 257, type: LONG, values: [ny] },
    { id: 258, type: SHORT, values: [32] },
    { id: 259, type: SHORT, values: [1] },
    { id: 262, type: SHORT, values: [1] },
    { id: 273, type: LONG, values: [0] }, // the strip's offset, below
    { id: 277, type: SHORT, values: [1] },
    { id: 278, type: LONG, values: [ny] },
    { id: 279, type: LONG, values: [4 * nx * ny] },
    { id: 284, type: SHORT, values: [1] },
    { id: 339, type: SHORT, values: [3] },
    { id: 33550, type: DOUBLE, values: [cell_size, cell_size, 0] },
    { id: 33922, type: DOUBLE, values: [0, 0, 0, origin[0], origin[1] + ny * cell_size, 0] },
    ...(crs_epsg === null || crs_epsg === undefined
      ? []
      : [{ id: 34735, type: SHORT, values: geoKeys(crs_epsg, geographic) }]),
    { id: 42113, type: ASCII, values: [...new TextEncoder().encode(String(nodata)), 0] },
  ];
  const layout = placed(tags);
  const bytes = new Uint8Array(layout.end);
  const view = new DataView(bytes.buffer);
  view.setUint16(0, 0x4949, true);
  view.setUint16(2, 42, true);
  view.setUint32(4, 8, true);
  view.setUint16(8, tags.length, true);
  for (const [i, tag] of tags.entries()) {
    const at = 10 + 12 * i;
    const values = tag.id === 273 ? [layout.end] : tag.values;
    view.setUint16(at, tag.id, true);
    view.setUint16(at + 2, tag.type, true);
    view.setUint32(at + 4, values.length, true);
    const offset = layout.offsets[i] ?? 0;
    if (offset > 0) view.setUint32(at + 8, offset, true);
    put(view, offset || at + 8, tag.type, values);
  }
  return bytes;
}

/** Offsets of the values of each tag (0 = inside its entry) and of the image. */
function placed(tags: readonly Tag[]) {
  let end = 10 + 12 * tags.length + 4;
  const offsets = tags.map(({ type, values }) => {
    const size = (SIZES[type] ?? 0) * values.length;
    if (size <= 4) return 0;
    const at = end + (end % 2);
    end = at + size;
    return at;
  });
  return { offsets, end: end + ((4 - (end % 4)) % 4) };
}

function put(view: DataView, at: number, type: number, values: readonly number[]): void {
  for (const [i, value] of values.entries()) {
    if (type === SHORT) view.setUint16(at + 2 * i, value, true);
    else if (type === LONG) view.setUint32(at + 4 * i, value, true);
    else if (type === ASCII) view.setUint8(at + i, value);
    else view.setFloat64(at + 8 * i, value, true);
  }
}

/** GeoKey directory: model type, pixel is area, and the EPSG code as geographic or projected system. */
function geoKeys(epsg: number, geographic: boolean): number[] {
  const keys = [
    [1024, geographic ? 2 : 1],
    [1025, 1],
    [geographic ? 2048 : 3072, epsg],
  ];
  return [1, 1, 0, keys.length, ...keys.flatMap(([id, value]) => [id ?? 0, 0, 1, value ?? 0])];
}

/** Codes of geographic systems outside 4000 to 4999, the block that GeoTIFF reserves for them. */
const GEOGRAPHIC = new Set([
  5132, 5228, 5229, 5233, 5246, 5252, 5264, 5324, 5340, 5354, 5360, 5365, 5371, 5373, 5381, 5393, 5451, 5489, 5527,
  5561, 5681, 5886, 6135, 6318, 6322, 6325, 6668, 6706, 6783, 7683, 7844,
]);
/** Ranges inside that block that the EPSG registry has assigned to projected systems. */
const PROJECTED: readonly (readonly [number, number])[] = [
  [4087, 4088],
  [4390, 4462],
  [4467, 4467],
  [4471, 4471],
  [4474, 4474],
  [4484, 4489],
  [4491, 4554],
  [4559, 4559],
  [4568, 4589],
  [4647, 4647],
  [4826, 4826],
  [4839, 4839],
  [4855, 4880],
];

/** Whether an EPSG code names a geographic system. GeoTIFF 1.0, section 6.3.2.1: 4000 to 4999, with the exceptions above. */
export function isGeographic(epsg: number): boolean {
  if (epsg < 4000 || epsg > 4999) return GEOGRAPHIC.has(epsg);
  return !PROJECTED.some(([first, last]) => epsg >= first && epsg <= last);
}
