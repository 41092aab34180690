#pragma once
#include <cstdint>
#include <vector>

#include "core/memory.h"
#include "core/op_context.h"
#include "ops/mesh/rasterize.h"

namespace pc {

/// Colour in linear light, not multiplied by alpha; 0..1.
struct LinearColor {
  float r, g, b, a;
};

/// Linear light of an sRGB value (IEC 61966-2-1), and back, rounded.
float linear_of_srgb(float value);
std::uint8_t srgb_byte(float linear);

/// A texture at its own and all halved resolutions, to be read between its texels. Textures repeat.
class MipChain {
 public:
  MipChain(const RasterTexture& texture, OpContext& ctx);

  /// u, v       place, 1 = the width or height
  /// footprint  length of a sample in the texture, 1 = the whole texture; between two resolutions both are mixed
  LinearColor read(double u, double v, double footprint_u, double footprint_v) const;
  bool has_holes() const { return has_holes_; }

 private:
  struct Level {
    std::uint32_t width, height;
    BulkVector<std::uint8_t> rgba;  ///< sRGB, as in the file
  };
  void halve(const Level& from, Level& to, OpContext& ctx) const;
  LinearColor bilinear(const Level& level, double u, double v) const;

  std::vector<Level> levels_;
  bool has_holes_ = false;
};

}  // namespace pc
