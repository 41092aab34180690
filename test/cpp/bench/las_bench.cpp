#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "core/random.h"
#include "io/las.h"

namespace {

using namespace pc;

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// Peak resident memory in MiB (Linux), 0 elsewhere.
double peak_rss_mib() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.rfind("VmHWM:", 0) == 0) return std::strtod(line.c_str() + 6, nullptr) / 1024.0;
  }
  return 0.0;
}

/// A cloud with everything point format 7 has and one extra dimension.
struct Cloud {
  explicit Cloud(std::size_t n)
      : points(n), colors(n), intensity(n), times(n), returns(n), classes(n), distance(n) {
    for (std::size_t i = 0; i < n; ++i) {
      points[i] = {random_unit(1, i) * 1000 + 5e5, random_unit(2, i) * 1000 + 5e6, random_unit(3, i) * 50};
      colors[i] = {static_cast<std::uint16_t>(i), static_cast<std::uint16_t>(i >> 3),
                   static_cast<std::uint16_t>(i >> 5)};
      intensity[i] = static_cast<std::uint16_t>(random_u64(4, i));
      times[i] = 3e8 + static_cast<double>(i) * 1e-6;
      returns[i] = static_cast<std::uint8_t>(1 + i % 3);
      classes[i] = static_cast<std::uint8_t>(i % 20);
      distance[i] = static_cast<float>(i);
    }
  }
  Column<Vec3d> points;
  Column<Rgb16> colors;
  Column<std::uint16_t> intensity;
  Column<double> times;
  Column<std::uint8_t> returns, classes;
  Column<float> distance;
};

}  // namespace

/// las_bench [points] [threads]: writes a format 7 file into the temporary folder, reads it, prints million
/// points/s.
int main(int argc, char** argv) {
  const std::size_t n = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 2'000'000;
  const int threads = argc > 2 ? std::atoi(argv[2]) : 0;
  const std::string path = (std::filesystem::temp_directory_path() / "las_bench.las").string();
  JobControl control;
  OpContext ctx(control, Device::kCpu, threads);
  {
    Cloud cloud(n);
    const double before = peak_rss_mib();
    const AnyColumn returns(std::move(cloud.returns)), classes(std::move(cloud.classes)),
        distance(std::move(cloud.distance));
    io::CloudView view;
    view.positions = cloud.points.view();
    view.colors = cloud.colors.view();
    view.intensity = cloud.intensity.view();
    view.timestamps = cloud.times.view();
    view.scalars = {{"return_number", "", &returns},
                    {"number_of_returns", "", &returns},
                    {"classification", "", &classes},
                    {"distance", "", &distance}};
    for (int round = 0; round < 3; ++round) {
      const auto start = std::chrono::steady_clock::now();
      const auto result = io::write_las(view, {}, path, ctx);
      const double s = seconds_since(start);
      std::printf("write %8.3f s  %6.1f M points/s  %.0f MB, RSS +%.0f MiB\n", s,
                  static_cast<double>(n) / s / 1e6, static_cast<double>(result.bytes) / 1e6,
                  peak_rss_mib() - before);
    }
  }
  for (int round = 0; round < 3; ++round) {
    const auto start = std::chrono::steady_clock::now();
    const auto cloud = io::read_las(path, {}, ctx);
    const double s = seconds_since(start);
    std::printf("read  %8.3f s  %6.1f M points/s  %zu columns, peak RSS %.0f MiB\n", s,
                static_cast<double>(n) / s / 1e6, cloud.table.columns.size(), peak_rss_mib());
  }
  std::filesystem::remove(path);
  return 0;
}
