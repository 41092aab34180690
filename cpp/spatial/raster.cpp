#include "spatial/raster.h"

#include <string>

#include "core/error.h"

namespace pc {

void check_raster(const RasterFrame& frame) {
  require(std::isfinite(frame.min_x) && std::isfinite(frame.min_y), "the corner of a raster must be finite");
  require(std::isfinite(frame.cell) && frame.cell > 0, "cell size must be finite and positive");
  require(frame.nx > 0 && frame.ny > 0, "a raster needs at least one cell");
  if (frame.cells() > kMaxRasterCells) {
    throw Error(ErrorCode::kInvalidArgument,
                std::to_string(frame.nx) + " x " + std::to_string(frame.ny) + " cells are more than the " +
                    std::to_string(kMaxRasterCells) + " of a raster; use a larger cell size");
  }
}

}  // namespace pc
