// text_bench ROWS THREADS [FILE]: writes a table of seven columns (x y z intensity r g b), reads it three
// times and prints million rows a second and the peak of the process. FILE is kept when given.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "core/memory.h"
#include "core/random.h"
#include "io/ascii_table.h"

namespace {

void write_table(const std::string& path, std::uint64_t rows) {
  std::FILE* file = std::fopen(path.c_str(), "wb");
  if (file == nullptr) std::exit(1);
  for (std::uint64_t i = 0; i < rows; ++i) {
    const auto whole = [&](std::uint64_t k, double n) { return static_cast<int>(pc::random_unit(k, i) * n); };
    std::fprintf(file, "%.3f %.3f %.3f %d %d %d %d\n", 400000 + 100 * pc::random_unit(1, i),
                 5400000 + 100 * pc::random_unit(2, i), 30 * pc::random_unit(3, i), whole(4, 4096) - 2048,
                 whole(5, 256), whole(6, 256), whole(7, 256));
  }
  std::fclose(file);
}

double peak_mib() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.rfind("VmHWM:", 0) == 0) return std::strtod(line.c_str() + 6, nullptr) / 1024.0;
  }
  return 0.0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::uint64_t rows = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 1'000'000;
  const int threads = argc > 2 ? std::atoi(argv[2]) : 0;
  const std::string path =
      argc > 3 ? argv[3] : (std::filesystem::temp_directory_path() / "text_bench.xyz").string();
  write_table(path, rows);
  pc::io::TextReadParams params{};
  params.delimiter = pc::io::TextDelimiter::kWhitespace;
  params.expected_columns = 7;
  params.x_index = 0;
  params.y_index = 1;
  params.z_index = 2;
  const char* const names[] = {"intensity", "r", "g", "b"};
  for (std::uint32_t i = 0; i < 4; ++i) {
    params.columns.push_back({i + 3, names[i], pc::io::TextColumnType::kAuto});
  }
  const double megabytes = static_cast<double>(std::filesystem::file_size(path)) / 1e6;
  for (int round = 0; round < 3; ++round) {
    pc::reset_bulk_bytes_peak();
    pc::JobControl control;
    pc::OpContext ctx(control, pc::Device::kCpu, threads);
    const auto start = std::chrono::steady_clock::now();
    const auto table = pc::io::read_text(path, params, ctx);
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    std::printf("%.1f M rows/s, %.0f MB/s, %.3f s, %zu rows, peak %.0f MiB resident, %.0f MiB mapped\n",
                static_cast<double>(rows) / seconds / 1e6, megabytes / seconds, seconds,
                table.positions.size(), peak_mib(), static_cast<double>(pc::bulk_bytes_peak()) / 1048576.0);
  }
  if (argc <= 3) std::filesystem::remove(path);
  return 0;
}
