#include "ground_bench.h"

#include <cstdio>
#include <cstdlib>

#include "bench.h"
#include "io/las.h"
#include "ops/ground/cloth_simulation.h"

namespace pc::bench {

int filter_ground(const Arguments& arguments) {
  JobControl control;
  OpContext ctx(control, Device::kCpu, thread_count(arguments, 2));
  io::LasReadParams read;
  read.wanted = [](const io::LasDimension& dimension) { return dimension.name == "classification"; };
  const io::LasCloud cloud = io::read_las(arguments[0], read, ctx);
  const ClothSimulationParams params = cloth_params(std::strtod(arguments[1].c_str(), nullptr));
  const Stopwatch watch;
  const auto result = cloth_simulation(HitPoints::assume_hits(cloud.table.positions.view()), params, ctx);
  const double seconds = watch.seconds();
  std::size_t both = 0, truth = 0;
  const AnyColumn& classification = cloud.table.columns.front().values;
  const auto classes = classification.as<std::uint8_t>();
  for (std::size_t i = 0; i < classes.size; ++i) {
    truth += classes[i] == 2;
    both += classes[i] == 2 && result.ground_class[i] == static_cast<std::uint8_t>(GroundClass::kGround);
  }
  const auto column_bytes = static_cast<double>(cloud.table.positions.bytes() + classification.bytes());
  std::printf(
      "{\"count\":%zu,\"op_s\":%.4f,\"column_mib\":%.1f,\"precision\":%.4f,\"recall\":%.4f,\"threads\":%d}\n",
      cloud.table.positions.size(), seconds, column_bytes / (1 << 20),
      static_cast<double>(both) / static_cast<double>(result.ground_count),
      static_cast<double>(both) / static_cast<double>(truth), ctx.threads());
  return 0;
}

}  // namespace pc::bench
