#include <cstdio>
#include <vector>

#include "bench.h"
#include "ops/fit/prospect.h"
#include "support/leaves.h"

namespace pc::bench {

int invert_leaves(const Arguments& arguments) {
  const std::size_t count = point_count(arguments[0]);
  JobControl control;
  OpContext ctx(control, Device::kCpu, thread_count(arguments, 1));
  std::vector<LeafMeasurement> spectra;
  for (std::size_t i = 0; i < count; ++i)
    spectra.push_back(test::measured_leaf(test::leaf_of(LeafModelKind::kD, i + 1), 0.005, i));
  const ProspectModel& model = prospect_model();
  const Stopwatch watch;
  double sum = 0;  // so that nothing is left out
  for (std::size_t i = 0; i < count; ++i) {
    const LeafTraits leaf{1.2 + 1.5 * static_cast<double>(i) / static_cast<double>(count),
                          {40, 8, 0.1, 0.015, 0.005, 1, 0, 0}};
    for (std::size_t w = 0; w < kLeafWavelengths; ++w) sum += model.values(w, leaf).reflectance;
  }
  const double forward_ms = 1000 * watch.seconds() / static_cast<double>(count);
  const FullInversionParams defaults{{6, 380, 750, 550, 705, 410, 20, 2, 2}, Loss::kSoftL1, 0.08, true};
  double ms[3];
  for (const LeafInversion inversion :
       {LeafInversion::kFull, LeafInversion::kLikelihood, LeafInversion::kWindowed}) {
    const bool is_full = inversion == LeafInversion::kFull;
    const Stopwatch own;
    for (const LeafMeasurement& spectrum : spectra)
      sum += invert_leaf(model, spectrum, {inversion, LeafModelKind::kD, is_full, 6, defaults}, ctx)
                 .estimate.value[1];
    ms[static_cast<int>(inversion)] = 1000 * own.seconds() / static_cast<double>(count);
  }
  std::printf(
      "{\"leaves\":%zu,\"op_s\":%.3f,\"forward_ms\":%.4f,\"full_ms\":%.2f,\"likelihood_ms\":%.2f,\"windowed_"
      "ms\":%.2f,"
      "\"sum\":%.6f}\n",
      count, watch.seconds(), forward_ms, ms[0], ms[1], ms[2], sum);
  return 0;
}

}  // namespace pc::bench
