#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>

#include "core/error.h"
#include "ops/fit/prospect_inversion.h"

namespace pc {

namespace {

constexpr double kLeastReflectance = -0.1, kMostReflectance = 1.2;
constexpr double kMostPercents = 120;
constexpr double kMostMicrometres = 50;
constexpr std::size_t kFewestValues = 10, kFewestWavelengths = 20;

[[noreturn]] void refuse(const std::string& why) { throw Error(ErrorCode::kInvalidArgument, why); }

std::string shown(double value) {
  std::string text = std::to_string(value);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text;
}

void check_values(Span<const double> wavelengths_nm, Span<const double> reflectance) {
  if (wavelengths_nm.size != reflectance.size)
    refuse("wavelengths has " + std::to_string(wavelengths_nm.size) + " values, reflectance " +
           std::to_string(reflectance.size) + "; the lists must have one value for each wavelength");
  for (std::size_t i = 0; i < reflectance.size; ++i) {
    const std::string at = "[" + std::to_string(i) + "] ";
    if (!std::isfinite(wavelengths_nm[i])) refuse("wavelengths" + at + "is not a finite number");
    if (!std::isfinite(reflectance[i])) refuse("reflectance" + at + "is not a finite number");
    if (reflectance[i] < kLeastReflectance || reflectance[i] > kMostReflectance)
      refuse("reflectance" + at + "is " + shown(reflectance[i]) + ", outside " + shown(kLeastReflectance) +
             ".." + shown(kMostReflectance) + "; reflectance is a share, 0..1: " +
             (std::abs(reflectance[i]) > kMostPercents ? "leave values that mark missing ones out"
                                                       : "divide percents by 100"));
  }
}

/// What wavelengths that are too short for nanometres may be.
std::string micrometres(Span<const double> wavelengths) {
  for (std::size_t i = 0; i < wavelengths.size; ++i)
    if (!(wavelengths[i] > 0 && wavelengths[i] < kMostMicrometres)) return "";
  return wavelengths.size == 0 ? "" : "; multiply micrometres by 1000";
}

}  // namespace

LeafMeasurement leaf_measurement(Span<const double> wavelengths_nm, Span<const double> reflectance) {
  check_values(wavelengths_nm, reflectance);
  std::vector<std::size_t> order(reflectance.size);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return wavelengths_nm[a] < wavelengths_nm[b]; });
  const double first = kFirstWavelength_nm, last = kFirstWavelength_nm + kLeafWavelengths - 1;
  std::size_t value_count = 0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    const double at = wavelengths_nm[order[i]];
    value_count += at >= first && at <= last ? 1 : 0;
    if (i > 0 && wavelengths_nm[order[i - 1]] == at)
      refuse("wavelengths has " + shown(at) + " nm more than once");
  }
  LeafMeasurement out;
  std::size_t right = 1;
  for (std::size_t i = 0; i < kLeafWavelengths && order.size() > 1; ++i) {
    const double at = first + static_cast<double>(i);
    while (right + 1 < order.size() && wavelengths_nm[order[right]] < at) ++right;
    const double x0 = wavelengths_nm[order[right - 1]], x1 = wavelengths_nm[order[right]];
    if (at < x0 || at > x1) continue;
    const double y0 = reflectance[order[right - 1]], y1 = reflectance[order[right]];
    out.index.push_back(static_cast<std::uint32_t>(i));
    out.reflectance.push_back(at == x1 ? y1 : y0 + (y1 - y0) * ((at - x0) / (x1 - x0)));
  }
  if (value_count < kFewestValues || out.index.size() < kFewestWavelengths)
    refuse("the spectrum has " + std::to_string(value_count) + " values over " +
           std::to_string(out.index.size()) + " nm of the model's range, 400 to 2500 nm; at least " +
           std::to_string(kFewestValues) + " values over " + std::to_string(kFewestWavelengths) +
           " nm are needed" + micrometres(wavelengths_nm));
  return out;
}

}  // namespace pc
