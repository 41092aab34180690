// pc_bench JOB ARGUMENT...: one benchmark job per process. scripts/bench.mjs runs it.
#include <charconv>
#include <cstdio>
#include <exception>

#include "bench.h"
#include "core/error.h"

namespace pc::bench {

int thread_count(const Arguments& arguments, std::size_t index) {
  if (index >= arguments.size()) return 0;
  const std::string& text = arguments[index];
  int threads = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), threads);
  const bool whole = error == std::errc{} && end == text.data() + text.size();
  if (!whole || threads < 0 || threads > 1024) {
    throw Error(ErrorCode::kInvalidArgument, "threads \"" + text + "\" is no number from 0 to 1024");
  }
  return threads;
}

}  // namespace pc::bench

namespace {

struct Job {
  const char* name;
  const char* usage;
  std::size_t min_arguments;
  int (*run)(const pc::bench::Arguments&);
};

constexpr Job kJobs[] = {
    {"plot", "POINTS FILE.las [FILE.txt]", 2, pc::bench::make_plot_files},
    {"las", "FILE.las|FILE.laz [THREADS] [xyz]", 1, pc::bench::read_las_file},
    {"scans", "POINTS FILE.e57 FILE.ptx", 3, pc::bench::make_scan_files},
    {"e57", "FILE.e57 [THREADS]", 1, pc::bench::read_e57_file},
    {"ptx", "FILE.ptx [THREADS]", 1, pc::bench::read_ptx_file},
    {"write", "FILE.las FILE.las|.laz|.pcd|.pts|.ptx|.ply [THREADS]", 2, pc::bench::write_file},
    {"text", "FILE.txt [THREADS]", 1, pc::bench::read_text_file},
    {"text_loop", "FILE.txt [THREADS]", 1, pc::bench::loop_over_text_file},
    {"denoise", "FILE.las ror|ror_tiled|voxel_count|sor|auto [THREADS]", 2, pc::bench::denoise_points},
    {"denoise_far", "FILE.las ror|ror_tiled|voxel_count|sor|auto", 2, pc::bench::denoise_far_point},
    {"knn", "FILE.las NEIGHBORS [THREADS]", 2, pc::bench::find_neighbors},
    {"octree", "FILE.las FOLDER [THREADS]", 2, pc::bench::build_octree},
    {"select", "FILE.las box|polygon|squares [THREADS]", 2, pc::bench::select_points},
    {"compact", "FILE.las [THREADS]", 1, pc::bench::compact_points},
    {"paint", "POINTS [THREADS]", 1, pc::bench::paint_points},
    {"translate", "FILE.las FOLDER [THREADS]", 2, pc::bench::translate_octree},
    {"leaf", "LEAVES [THREADS]", 1, pc::bench::invert_leaves},
    {"trees", "TREES POINTS [THREADS]", 2, pc::bench::measure_trees},
    {"skeleton", "POINTS [THREADS]", 1, pc::bench::find_skeleton},
    {"model-trees", "TREES POINTS [THREADS]", 2, pc::bench::model_trees},
    {"build-qsm", "POINTS [THREADS]", 1, pc::bench::build_tree},
    {"turn-leaves", "LEAVES PER_CELL [THREADS]", 2, pc::bench::turn_leaves},
    {"competition", "STEMS [THREADS]", 1, pc::bench::index_competition},
    {"wood", "POINTS sota|geometric [THREADS]", 2, pc::bench::tell_wood},
    {"dem", "POINTS [THREADS]", 1, pc::bench::make_dem},
    {"cloth", "FILE.las RESOLUTION_M [THREADS]", 2, pc::bench::filter_ground},
    {"segment-trees", "FILE.las|FILE.laz [THREADS]", 1, pc::bench::segment_trees},
    {"path-trees", "POINTS [THREADS]", 1, pc::bench::path_trees},
    {"find-stems", "POINTS [THREADS]", 1, pc::bench::find_stems},
    {"mesh", "TRIANGLES [THREADS]", 1, pc::bench::search_mesh},
    {"rays", "TRIANGLES scan|random|down [RAYS] [ISA]", 2, pc::bench::trace_rays},
    {"surface", "alpha_shape|delaunay|ball_pivoting|poisson POINTS [THREADS]", 2, pc::bench::mesh_stem},
    {"lad", "PULSES EDGE [THREADS]", 2, pc::bench::invert_density},
    {"scan_mesh", "POINTS [THREADS]", 1, pc::bench::mesh_scan},
    {"c2m", "POINTS TRIANGLES [THREADS]", 2, pc::bench::measure_to_mesh},
    {"shapes", "POINTS [OP]", 1, pc::bench::time_shapes},
    {"costs", "[OP] [TIMES]", 0, pc::bench::time_costs},
    {"devices", "POINTS [OP] [THREADS]", 1, pc::bench::compare_devices},
    {"touch", "MIB", 1, pc::bench::touch_memory},
    {"measure", "PROGRAM [ARGUMENT ...]", 1, pc::bench::measure_program},
};

}  // namespace

int main(int argc, char** argv) {
  const std::string name = argc > 1 ? argv[1] : "";
  const pc::bench::Arguments arguments(argv + (argc > 1 ? 2 : 1), argv + argc);
  for (const Job& job : kJobs) {
    if (name != job.name || arguments.size() < job.min_arguments) continue;
    try {
      return job.run(arguments);
    } catch (const std::exception& error) {
      std::fprintf(stderr, "pc_bench %s: %s\n", job.name, error.what());
      return 1;
    }
  }
  for (const Job& job : kJobs) std::fprintf(stderr, "usage: pc_bench %s %s\n", job.name, job.usage);
  return 2;
}
