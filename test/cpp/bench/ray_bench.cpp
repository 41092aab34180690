#include <algorithm>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <string>
#include <vector>

#include "bench.h"
#include "core/error.h"
#include "core/random.h"
#include "embree_scene.h"
#include "mesh_bench.h"

namespace pc::bench {

namespace {

/// Rays traced by one program before the next one's turn.
constexpr std::size_t kTurn = 16'384;

/// Rays from places all over the plot, in all directions.
std::vector<Ray> random_rays(std::size_t count) {
  std::vector<Ray> rays(count);
  for (std::size_t i = 0; i < count; ++i) {
    const auto unit = [&](std::uint64_t k) { return random_unit(77, 5 * i + k); };
    const double turn = 2 * M_PI * unit(0), rise = 2 * unit(1) - 1, flat = std::sqrt(1 - rise * rise);
    rays[i] = {{50 * unit(2), 50 * unit(3), 2 + 10 * unit(4)},
               {flat * std::cos(turn), flat * std::sin(turn), rise},
               0,
               1e9};
  }
  return rays;
}

/// Vertical rays from above, in rows of 1000.
std::vector<Ray> down_rays(std::size_t count) {
  std::vector<Ray> rays(count);
  for (std::size_t i = 0; i < count; ++i) {
    const double x = 50 * (static_cast<double>(i % 1000) + 0.5) / 1000,
                 y = 50 * static_cast<double>(i / 1000) / static_cast<double>(count / 1000 + 1);
    rays[i] = {{x, y, 100}, {0, 0, -1}, 0, 1e9};
  }
  return rays;
}

std::vector<Ray> rays_of_kind(const std::string& kind, std::size_t count) {
  if (kind == "scan") return scan_rays(count);
  if (kind == "random") return random_rays(count);
  if (kind == "down") return down_rays(count);
  throw Error(ErrorCode::kInvalidArgument, "rays are scan, random or down, not \"" + kind + "\"");
}

double thread_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

/// Seconds of each turn of one tracer.
struct Turns {
  std::vector<double> seconds;

  template <class Trace>
  void take(const Trace& trace) {
    const double start = thread_seconds();
    trace();
    seconds.push_back(thread_seconds() - start);
  }
  double ns_per_ray(std::size_t count) const {
    double sum = 0;
    for (const double turn : seconds) sum += turn;
    return sum / static_cast<double>(count) * 1e9;
  }
};

/// Median over the turns of the peer's time over ours.
double median_ratio(const Turns& peer, const Turns& ours) {
  std::vector<double> ratios;
  for (std::size_t i = 0; i < ours.seconds.size(); ++i) ratios.push_back(peer.seconds[i] / ours.seconds[i]);
  std::nth_element(ratios.begin(), ratios.begin() + static_cast<std::ptrdiff_t>(ratios.size() / 2),
                   ratios.end());
  return ratios[ratios.size() / 2];
}

// Functions of their own, so that a profiler can tell the tracers apart.
[[gnu::noinline]] void trace_ours(const BvhView& tree, const Ray* rays, std::size_t count, RayHit* hits) {
  fastest_bvh_queries().first_hits(tree, rays, count, hits);
}
[[gnu::noinline]] void trace_ours_singly(const BvhView& tree, const Ray* rays, std::size_t count,
                                         RayHit* hits) {
  for (std::size_t i = 0; i < count; ++i) fastest_bvh_queries().first_hits(tree, rays + i, 1, hits + i);
}
[[gnu::noinline]] void trace_peer(const EmbreeScene& peer, const Ray* rays, std::size_t count, bool coherent,
                                  float* reached) {
  peer.packets(rays, count, coherent, reached);
}
[[gnu::noinline]] void trace_peer_singly(const EmbreeScene& peer, const Ray* rays, std::size_t count,
                                         float* reached) {
  peer.single(rays, count, reached);
}

std::size_t differing(const std::vector<RayHit>& hits, const std::vector<float>& reached) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < hits.size(); ++i) {
    const double t = hits[i].triangle == bvh::kNone ? 1e9 : hits[i].t;
    if (!(std::abs(t - static_cast<double>(reached[i])) <= 1e-4 * std::max(1.0, t))) ++count;
  }
  return count;
}

}  // namespace

int trace_rays(const Arguments& arguments) {
  JobControl control;
  OpContext ctx(control, Device::kCpu, 1);
  const BenchMesh mesh = plot_mesh(point_count(arguments[0]));
  const std::size_t wanted = arguments.size() > 2 ? point_count(arguments[2]) : 2'000'000;
  const std::size_t count = std::max<std::size_t>(1, wanted / kTurn) * kTurn;
  const std::vector<Ray> rays = rays_of_kind(arguments[1], count);
  const bool coherent = arguments[1] != "random";
  const Bvh tree(mesh.view(), ctx);
  const auto peer = embree_scene(mesh, arguments.size() > 3 ? arguments[3] : "");
  std::vector<RayHit> hits(count), alone(count);
  std::vector<float> reached(count);
  Turns ours, singly, packets, single;
  for (std::size_t i = 0; i < count; i += kTurn) {
    ours.take([&] { trace_ours(tree.view(), &rays[i], kTurn, &hits[i]); });
    if (peer) packets.take([&] { trace_peer(*peer, &rays[i], kTurn, coherent, &reached[i]); });
    singly.take([&] { trace_ours_singly(tree.view(), &rays[i], kTurn, &alone[i]); });
    if (peer) single.take([&] { trace_peer_singly(*peer, &rays[i], kTurn, &reached[i]); });
  }
  std::size_t unequal = 0;
  for (std::size_t i = 0; i < count; ++i)
    unequal += hits[i].t != alone[i].t || hits[i].triangle != alone[i].triangle ? 1 : 0;
  std::printf(
      "{\"triangles\":%zu,\"rays\":%zu,\"ray_ns\":%.1f,\"single_ray_ns\":%.1f,\"unequal\":%zu,\"embree\":%d,"
      "\"embree_packet_ns\":%.1f,\"embree_single_ns\":%.1f,\"differ\":%zu,\"packet_ratio\":%.3f,"
      "\"single_ratio\":%.3f}\n",
      mesh.indices.size() / 3, count, ours.ns_per_ray(count), singly.ns_per_ray(count), unequal, peer ? 1 : 0,
      packets.ns_per_ray(count), single.ns_per_ray(count), peer ? differing(hits, reached) : 0,
      peer ? median_ratio(packets, ours) : 0, peer ? median_ratio(single, singly) : 0);
  return 0;
}

}  // namespace pc::bench
