import type { Plan, PlannedTile } from "./plan-document.ts";
import { cellRange, NODATA, type SurfaceName } from "./tile-rasters.ts";

/**
 * The rasters of all tiles as one: a GDAL virtual raster, which QGIS, GDAL and rasterio read as any other file. The tiles lie on
 * one grid of cells, so nothing is resampled. `folder`: of the tiles, relative to the file. Format: GDAL, VRT driver.
 */
export function virtualRaster(plan: Plan, tiles: readonly PlannedTile[], surface: SurfaceName, folder: string): string {
  const cell = plan.workflow.rasters?.cell_m ?? 1;
  const ranges = tiles.map((tile) => ({ tile, cells: cellRange(plan, cell, tile.core) }));
  const low = (of: (cells: (typeof ranges)[number]["cells"]) => number) =>
    ranges.map(({ cells }) => of(cells)).reduce((a, b) => Math.min(a, b));
  const high = (of: (cells: (typeof ranges)[number]["cells"]) => number) => -low((cells) => -of(cells));
  const column = low((cells) => cells.column);
  const nx = high((cells) => cells.column + cells.nx) - column;
  const top = high((cells) => cells.row + cells.ny);
  const ny = top - low((cells) => cells.row);
  const west = plan.shift[0] + column * cell;
  const north = plan.shift[1] + top * cell;
  const crs = plan.crs_epsg === null ? "" : `  <SRS>EPSG:${plan.crs_epsg}</SRS>\n`;
  const sources = ranges.map(({ tile, cells }) => {
    const size = `xSize="${cells.nx}" ySize="${cells.ny}"`;
    return `    <ComplexSource>
      <SourceFilename relativeToVRT="1">${folder}/${tile.id}/${surface}.tif</SourceFilename>
      <SourceBand>1</SourceBand>
      <SrcRect xOff="0" yOff="0" ${size}/>
      <DstRect xOff="${cells.column - column}" yOff="${top - cells.row - cells.ny}" ${size}/>
      <NODATA>${NODATA}</NODATA>
    </ComplexSource>
`;
  });
  return `<VRTDataset rasterXSize="${nx}" rasterYSize="${ny}">
${crs}  <GeoTransform>${west}, ${cell}, 0, ${north}, 0, ${-cell}</GeoTransform>
  <VRTRasterBand dataType="Float32" band="1">
    <NoDataValue>${NODATA}</NoDataValue>
${sources.join("")}  </VRTRasterBand>
</VRTDataset>
`;
}
