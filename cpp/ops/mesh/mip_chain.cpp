#include "ops/mesh/mip_chain.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "core/parallel.h"

namespace pc {

namespace {

const std::array<float, 256>& linear_table() {
  static const auto table = [] {
    std::array<float, 256> values{};
    for (std::size_t i = 0; i < values.size(); ++i)
      values[i] = linear_of_srgb(static_cast<float>(i) / 255.0f);
    return values;
  }();
  return table;
}

std::uint8_t byte_of(float value) {
  return static_cast<std::uint8_t>(std::lround(std::clamp(value, 0.0f, 1.0f) * 255.0f));
}

/// Sum of colours weighted by what they cover, so that holes do not colour their borders.
struct Mixture {
  float r = 0, g = 0, b = 0, a = 0, weights = 0;

  void add(const std::uint8_t* texel, float weight) {
    const auto& linear = linear_table();
    const float covered = weight * static_cast<float>(texel[3]) / 255.0f;
    r += covered * linear[texel[0]];
    g += covered * linear[texel[1]];
    b += covered * linear[texel[2]];
    a += covered;
    weights += weight;
  }
  LinearColor color() const {
    if (!(a > 0)) return {0, 0, 0, 0};
    return {r / a, g / a, b / a, a / weights};
  }
};

/// Index of a texel of a repeated row.
std::uint32_t wrapped(std::int64_t i, std::uint32_t size) {
  const std::int64_t rest = i % size;
  return static_cast<std::uint32_t>(rest < 0 ? rest + size : rest);
}

}  // namespace

float linear_of_srgb(float value) {
  return value <= 0.04045f ? value / 12.92f : std::pow((value + 0.055f) / 1.055f, 2.4f);
}

std::uint8_t srgb_byte(float linear) {
  return byte_of(linear <= 0.0031308f ? 12.92f * linear : 1.055f * std::pow(linear, 1 / 2.4f) - 0.055f);
}

MipChain::MipChain(const RasterTexture& texture, OpContext& ctx) {
  Level first{texture.width, texture.height, {}};
  first.rgba.resize(texture.rgba.size);
  std::copy(texture.rgba.begin(), texture.rgba.end(), first.rgba.begin());
  for (std::size_t i = 3; i < first.rgba.size() && !has_holes_; i += 4) has_holes_ = first.rgba[i] < 128;
  levels_.push_back(std::move(first));
  while (levels_.back().width > 1 || levels_.back().height > 1) {
    const Level& from = levels_.back();
    Level to{std::max(1u, from.width / 2), std::max(1u, from.height / 2), {}};
    halve(from, to, ctx);
    levels_.push_back(std::move(to));
  }
}

void MipChain::halve(const Level& from, Level& to, OpContext& ctx) const {
  to.rgba.resize(std::size_t{4} * to.width * to.height);
  const auto bound = [](std::uint32_t i, std::uint32_t size, std::uint32_t parts) {
    return static_cast<std::uint32_t>(std::uint64_t{i} * size / parts);
  };
  parallel_for(ctx, to.height, 16, [&](std::size_t begin, std::size_t end) {
    for (auto y = static_cast<std::uint32_t>(begin); y < end; ++y)
      for (std::uint32_t x = 0; x < to.width; ++x) {
        Mixture mixture;  // 2 x 2 texels; 3 where the larger level has an odd number
        for (std::uint32_t v = bound(y, from.height, to.height); v < bound(y + 1, from.height, to.height);
             ++v)
          for (std::uint32_t u = bound(x, from.width, to.width); u < bound(x + 1, from.width, to.width); ++u)
            mixture.add(&from.rgba[4 * (std::size_t{v} * from.width + u)], 1);
        const LinearColor color = mixture.color();
        std::uint8_t* out = &to.rgba[4 * (std::size_t{y} * to.width + x)];
        out[0] = srgb_byte(color.r);
        out[1] = srgb_byte(color.g);
        out[2] = srgb_byte(color.b);
        out[3] = byte_of(color.a);
      }
  });
}

LinearColor MipChain::bilinear(const Level& level, double u, double v) const {
  const double x = (u - std::floor(u)) * level.width - 0.5, y = (v - std::floor(v)) * level.height - 0.5;
  const auto left = static_cast<std::int64_t>(std::floor(x)), top = static_cast<std::int64_t>(std::floor(y));
  const auto right_share = static_cast<float>(x - static_cast<double>(left));
  const auto lower_share = static_cast<float>(y - static_cast<double>(top));
  Mixture mixture;
  for (int corner = 0; corner < 4; ++corner) {
    const bool right = corner & 1, lower = corner & 2;
    const float weight = (right ? right_share : 1 - right_share) * (lower ? lower_share : 1 - lower_share);
    const std::size_t row = wrapped(top + lower, level.height), column = wrapped(left + right, level.width);
    mixture.add(&level.rgba[4 * (row * level.width + column)], weight);
  }
  return mixture.color();
}

LinearColor MipChain::read(double u, double v, double footprint_u, double footprint_v) const {
  if (!std::isfinite(u)) u = 0;
  if (!std::isfinite(v)) v = 0;
  const double texels = std::max(footprint_u * levels_[0].width, footprint_v * levels_[0].height);
  const double most = static_cast<double>(levels_.size() - 1);
  const double detail = texels > 1 ? std::min(std::log2(texels), most) : 0;  // 0 for NaN
  const auto fine = static_cast<std::size_t>(detail);
  const LinearColor a = bilinear(levels_[fine], u, v);
  const auto share = static_cast<float>(detail - static_cast<double>(fine));
  if (share == 0) return a;
  const LinearColor b = bilinear(levels_[fine + 1], u, v);
  const auto mix = [&](float from, float to) { return from + share * (to - from); };
  if (a.a == 0 || b.a == 0) {
    const LinearColor& seen = a.a == 0 ? b : a;
    return {seen.r, seen.g, seen.b, mix(a.a, b.a)};
  }
  return {mix(a.r, b.r), mix(a.g, b.g), mix(a.b, b.b), mix(a.a, b.a)};
}

}  // namespace pc
