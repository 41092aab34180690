#include <algorithm>
#include <map>

#include "core/linear_solve.h"
#include "core/radix_sort.h"
#include "cost_case.h"
#include "ops/cloud/select_hits.h"
#include "ops/denoise/mixed_pixel.h"
#include "ops/denoise/noise_class.h"
#include "ops/denoise/tiled_noise.h"
#include "ops/mesh/alpha_shape.h"
#include "ops/mesh/delaunay.h"
#include "ops/mesh/mesh_cleanup.h"
#include "ops/mesh/scan_mesh.h"
#include "ops/mesh/scan_triangulation.h"
#include "ops/octree/octree_translate.h"
#include "spatial/all_knn.h"
#include "spatial/ball_grid.h"
#include "spatial/divide_delaunay.h"
#include "spatial/kd_tree.h"
#include "support/octree_reader.h"
#include "support/worst_shapes.h"

namespace pc::bench {

namespace {

using test::ShapeCloud;

void label_mixed(const ShapeCloud& cloud, OpContext& ctx) {
  const HitSelection hits = select_hits(cloud.positions.view(), {}, ctx);
  const Vec3d origin{-1, -2, 30};
  const BeamOrigins origins({&origin, 1}, hits.size(), hits);
  const KdTree tree(cloud.positions.view(), ctx);
  Column<std::uint8_t> labels(hits.size());
  // As the service has them, but for spacing and consistency, so that every point of every cloud is judged.
  label_mixed_pixels(tree, origins, {1e9, 2.1, 2.5, 1.6, 0.05, 2, 3, 8, 0.3, 1}, labels.view(), ctx);
}

/// Triangles of neighbouring rows, most of which share edges with many others where the points lie at few places.
void clean_lifted(const ShapeCloud& cloud, OpContext& ctx) {
  const std::size_t count = cloud.positions.size();
  BulkVector<std::uint32_t> indices(6 * count);
  for (std::size_t i = 0; i < indices.size(); ++i) {
    indices[i] = static_cast<std::uint32_t>((i / 3 + i % 3 * (1 + i % 2)) % count);
  }
  mesh_cleanup(cloud.positions.view(), indices.view(), ctx);
}

void mesh_scan(const ShapeCloud& cloud, OpContext& ctx) {
  const Vec3d origin{-1, -2, 30};
  const ScanTriangulation found = scan_triangulation(cloud.hits(), origin, ctx);
  scan_mesh({{cloud.positions.view(), found.indices.view(), origin, true}}, {1e9, 1e9}, ctx);
}

std::vector<test::ShapeOp> tree_ops() {
  using C = const ShapeCloud&;
  using X = OpContext&;
  return {
      {"kd_tree", [](C cloud, X ctx) { const KdTree tree(cloud.positions.view(), ctx); }},
      {"all_knn 16",
       [](C cloud, X ctx) {
         const KdTree tree(cloud.positions.view(), ctx);
         all_knn(tree, 16, ctx, [](std::uint32_t, const LeafKnn&) {});
       }},
      {"ball_grid",
       [](C cloud, X ctx) {
         const Column<double> radii = [&] {
           Column<double> squared(cloud.positions.size());
           for (double& radius : squared.view()) radius = 4 * cloud.p95_m * cloud.p95_m;
           return squared;
         }();
         const BallGrid grid(cloud.positions.view(), radii.view(), ctx);
       }},
      {"mixed_pixel", label_mixed},
      {"delaunay", [](C cloud, X ctx) { delaunay(cloud.hits(), ctx); }},
      {"alpha_shape", [](C cloud, X ctx) { alpha_shape(cloud.hits(), {}, ctx); }},
      {"scan_triangulation", mesh_scan},
      {"mesh_cleanup", [](C cloud, X ctx) { clean_lifted(cloud, ctx); }},
      {"tiled_noise radius",
       [](C cloud, X ctx) {
         radius_outlier_tiled(cloud.hits(), {3 * cloud.p95_m, 2}, 20'000, ctx);
       }},
      {"tiled_noise voxel_count",
       [](C cloud, X ctx) {
         voxel_count_tiled(cloud.hits(), {5 * cloud.p95_m, 2, std::nullopt}, 20'000, ctx);
       }},
  };
}

/// Distinct lattice points in the order that the triangulation wants.
std::vector<LatticePoint> lattice_points(std::size_t n, LatticePoint (*at)(std::uint64_t, std::uint64_t)) {
  std::vector<LatticePoint> points;
  for (std::size_t i = 0; i < n; ++i) points.push_back(at(i, n));
  std::sort(points.begin(), points.end(),
            [](const LatticePoint& a, const LatticePoint& b) { return a.u != b.u ? a.u < b.u : a.v < b.v; });
  points.erase(std::unique(points.begin(), points.end()), points.end());
  return points;
}

void add_delaunay_costs(CostCases& cases) {
  using I = std::uint64_t;
  using L = LatticePoint;
  const auto add = [&](const char* input, L (*at)(I, I)) {
    cases.push_back(
        {"lattice_delaunay", input, 50'000,
         prepared([at](std::size_t n) { return lattice_points(n, at); },
                  [](const std::vector<L>& points, OpContext& ctx) {
                    const DivideDelaunay<LatticePoint> triangles({points.data(), points.size()}, ctx);
                  })});
  };
  add("random", [](I i, I) {
    return L{static_cast<std::int32_t>(random_u64(1, i) >> 42),
             static_cast<std::int32_t>(random_u64(2, i) >> 42)};
  });
  add("grid", [](I i, I n) {
    const auto side = static_cast<I>(std::sqrt(static_cast<double>(n)));
    return L{static_cast<std::int32_t>(i % side), static_cast<std::int32_t>(i / side)};
  });
  add("line u", [](I i, I) { return L{static_cast<std::int32_t>(i), 0}; });
  add("line v", [](I i, I) { return L{0, static_cast<std::int32_t>(i)}; });
  add("diagonal", [](I i, I) { return L{static_cast<std::int32_t>(i), static_cast<std::int32_t>(i)}; });
  add("two columns", [](I i, I) { return L{i % 2 == 0 ? 0 : 4'000'000, static_cast<std::int32_t>(i)}; });
  add("two rows", [](I i, I) { return L{static_cast<std::int32_t>(i), i % 2 == 0 ? 0 : 4'000'000}; });
  add("circle", [](I i, I n) {
    const double angle = 6.283185307 * static_cast<double>(i) / static_cast<double>(n);
    return L{static_cast<std::int32_t>(2e6 * (1 + std::cos(angle))),
             static_cast<std::int32_t>(2e6 * (1 + std::sin(angle)))};
  });
  add("line and a point", [](I i, I n) {
    return i == 0 ? L{static_cast<std::int32_t>(n / 2), 4'000'000} : L{static_cast<std::int32_t>(i), 0};
  });
  add("steep parabola", [](I i, I n) {
    const double x = static_cast<double>(i) / static_cast<double>(n);
    return L{static_cast<std::int32_t>(i), static_cast<std::int32_t>(4e6 * x * x)};
  });
}

void add_sort_costs(CostCases& cases) {
  for (const WorstValues& values : worst_values()) {
    if (!std::isfinite(values.at(0, 10)) || std::string(values.name) == "one NaN") continue;
    const auto keys = [values](std::size_t n) {
      Column<std::uint64_t> column(n);
      for (std::size_t i = 0; i < n; ++i) {
        const double value = values.at(i, n);
        column[i] = value > 1e18 ? ~std::uint64_t{0} : static_cast<std::uint64_t>(value * 1e6);
      }
      return column;
    };
    cases.push_back({"radix_sort", values.name, 200'000,
                     prepared(keys, [](const Column<std::uint64_t>& c, OpContext& ctx) {
                       radix_sort_order(c.view(), 64, ctx);
                     })});
  }
}

struct System {
  std::vector<double> values, b;
  std::size_t n;
  MatrixView view() const { return {{values.data(), values.size()}, n, n}; }
};

/// Random, or of rank one; with a heavy diagonal it is positive definite.
System system_of(std::size_t n, bool equal, double diagonal) {
  System system{std::vector<double>(n * n), std::vector<double>(n, 1.0), n};
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j <= i; ++j)
      system.values[i * n + j] = system.values[j * n + i] = equal ? 1 : random_unit(3, i * n + j);
  for (std::size_t i = 0; i < n; ++i) system.values[i * n + i] += diagonal;
  return system;
}

void add_solver_costs(CostCases& cases) {
  const auto least = [](const System& system, OpContext&) {
    solve_least_squares(system.view(), {system.b.data(), system.n});
  };
  cases.push_back({"linear_solve least squares", "random", 80,
                   prepared([](std::size_t n) { return system_of(n, false, 0); }, least), 3});
  cases.push_back({"linear_solve least squares", "rank one", 80,
                   prepared([](std::size_t n) { return system_of(n, true, 0); }, least), 3});
  cases.push_back({"linear_solve cholesky", "random", 200,
                   prepared([](std::size_t n) { return system_of(n, false, static_cast<double>(n)); },
                            [](const System& system, OpContext&) {
                              solve_positive_definite(system.view(), {system.b.data(), system.n});
                            }),
                   3});
  cases.push_back({"linear_solve sparse grid", "square", 2500,
                   prepared(
                       [](std::size_t n) {
                         const auto side = static_cast<std::uint32_t>(std::sqrt(static_cast<double>(n)));
                         std::vector<SparseEntry> entries;
                         for (std::uint32_t i = 0; i < side * side; ++i) {
                           entries.push_back({i, i, 5});
                           if (i % side > 0) entries.push_back({i, i - 1, -1});
                           if (i >= side) entries.push_back({i, i - side, -1});
                         }
                         return std::pair{entries, std::size_t{side} * side};
                       },
                       [](auto& grid, OpContext&) {
                         const SparseCholesky factors(grid.second, {grid.first.data(), grid.first.size()});
                         factors.solve({std::vector<double>(grid.second, 1.0).data(), grid.second});
                       }),
                   1.5});
}

/// An octree in memory.
class OctreeBytes final : public OctreeSource {
 public:
  explicit OctreeBytes(std::map<std::string, std::string> files) : files_(std::move(files)) {}
  std::uint64_t node_bytes() const override { return files_.at("octree.bin").size(); }
  void read_nodes(std::uint64_t offset, Span<std::byte> bytes) const override {
    std::memcpy(bytes.data, files_.at("octree.bin").data() + offset, bytes.size);
  }
  BulkVector<std::byte> file(const std::string& name) const override {
    const std::string& text = files_.at(name);
    BulkVector<std::byte> bytes(text.size());
    std::memcpy(bytes.data(), text.data(), text.size());
    return bytes;
  }

 private:
  std::map<std::string, std::string> files_;
};

OctreeBytes octree_of(std::size_t n) {
  const ShapeCloud cloud = test::shape_cloud(test::worst_shapes()[0], n);
  JobControl control;
  OpContext ctx(control, Device::kCpu, 1);
  test::MemorySink sink;
  octree_build({cloud.positions.view(), {}, {}}, {.scale = 0.001, .leaf_capacity = 10000}, sink, ctx);
  return OctreeBytes(std::move(sink.files));
}

}  // namespace

void add_spatial_costs(CostCases& cases) {
  for (const test::ShapeOp& op : tree_ops()) {
    const bool mixed = std::string(op.name) == "mixed_pixel";
    for (const test::Shape& shape : test::worst_shapes()) {
      const double growth = mixed && std::string(shape.name) == "dense to sparse" ? 1.6 : 1;
      cases.push_back({op.name, shape.name, 50'000,
                       prepared([shape](std::size_t n) { return test::shape_cloud(shape, n); },
                                [run = op.run](const ShapeCloud& cloud, OpContext& ctx) { run(cloud, ctx); }),
                       growth, mixed ? 15.0 : 1.0});
    }
  }
  add_delaunay_costs(cases);
  add_sort_costs(cases);
  add_solver_costs(cases);
  cases.push_back({"octree_translate", "copied", 200'000,
                   prepared(octree_of, [](const OctreeBytes& source, OpContext& ctx) {
                     test::NullSink sink;
                     octree_translate(source, {1, 2, 3}, sink, ctx);
                   })});
}

}  // namespace pc::bench
