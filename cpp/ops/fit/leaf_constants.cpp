#include "ops/fit/leaf_constants.h"

#include <cstdint>
#include <string_view>

#include "core/error.h"

namespace pc {

namespace {

/// One spectrum: the number of units in 1, then for each selected wavelength the distance from the one before in
/// nanometres (not for the first, 400) and the change of its value in units. Whole numbers to the base 64, as digit()
/// and next() read them.
struct PackedSpectrum {
  double units_per_one;
  std::string_view text;
};

#include "ops/fit/leaf_constants.inc"

std::uint32_t digit(char sign) {
  constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const auto at = kDigits.find(sign);
  if (at == std::string_view::npos) throw Error(ErrorCode::kInternal, "leaf constants are damaged");
  return static_cast<std::uint32_t>(at);
}

/// The next number: groups of five bits from the lowest on, of which all but the last have the sixth bit set; the lowest
/// bit of the number is its sign.
std::int64_t next(std::string_view& text) {
  std::uint64_t bits = 0;
  for (unsigned shift = 0;; shift += 5) {
    if (text.empty() || shift > 45) throw Error(ErrorCode::kInternal, "leaf constants are damaged");
    const std::uint32_t group = digit(text.front());
    text.remove_prefix(1);
    bits |= static_cast<std::uint64_t>(group & 31U) << shift;
    if (group < 32) break;
  }
  const auto magnitude = static_cast<std::int64_t>(bits >> 1);
  return (bits & 1U) != 0 ? -magnitude : magnitude;
}

std::vector<double> unpacked(PackedSpectrum packed) {
  std::vector<double> values;
  values.reserve(kLeafWavelengths);
  std::int64_t units = next(packed.text);
  values.push_back(static_cast<double>(units) / packed.units_per_one);
  while (values.size() < kLeafWavelengths) {
    const std::int64_t steps = next(packed.text), change = next(packed.text);
    if (steps <= 0 || static_cast<std::size_t>(steps) > kLeafWavelengths - values.size())
      throw Error(ErrorCode::kInternal, "leaf constants are damaged");
    for (std::int64_t i = 1; i <= steps; ++i)
      values.push_back((static_cast<double>(units) +
                        static_cast<double>(change) * static_cast<double>(i) / static_cast<double>(steps)) /
                       packed.units_per_one);
    units += change;
  }
  if (!packed.text.empty()) throw Error(ErrorCode::kInternal, "leaf constants are damaged");
  return values;
}

LeafConstants unpack() {
  LeafConstants constants;
  constants.refractive_index = unpacked(kRefractiveIndex);
  for (std::size_t i = 0; i < kConstituents; ++i) constants.absorption[i] = unpacked(kAbsorption[i]);
  return constants;
}

}  // namespace

const LeafConstants& leaf_constants() {
  static const LeafConstants constants = unpack();
  return constants;
}

}  // namespace pc
