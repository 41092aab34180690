// Registrations and meshes of the Point Cloud Library, which is no part of the product: built by pcl.ts where libpcl-dev is
// installed. Files hold native doubles or 32-bit integers without a header.
#include <pcl/features/normal_3d.h>
#include <pcl/filters/voxel_grid.h>
#include <pcl/point_types.h>
#include <pcl/registration/gicp.h>
#include <pcl/registration/icp.h>
#include <pcl/surface/gp3.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

namespace {

using Point = pcl::PointNormal;
using Cloud = pcl::PointCloud<Point>;

std::vector<double> numbers(const char* path) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  std::vector<double> values(static_cast<std::size_t>(file.tellg()) / sizeof(double));
  file.seekg(0);
  file.read(reinterpret_cast<char*>(values.data()),
            static_cast<std::streamsize>(values.size() * sizeof(double)));
  return values;
}

Cloud::Ptr cloud_of(const std::vector<double>& xyz) {
  Cloud::Ptr cloud(new Cloud);
  for (std::size_t i = 0; i + 2 < xyz.size(); i += 3) {
    Point p;
    p.x = static_cast<float>(xyz[i]);
    p.y = static_cast<float>(xyz[i + 1]);
    p.z = static_cast<float>(xyz[i + 2]);
    cloud->push_back(p);
  }
  return cloud;
}

/// Voxel means with normals from 20 neighbours.
Cloud::Ptr thinned(const Cloud::Ptr& cloud, double voxel) {
  Cloud::Ptr out(new Cloud);
  pcl::VoxelGrid<Point> grid;
  grid.setInputCloud(cloud);
  const auto edge = static_cast<float>(voxel);
  grid.setLeafSize(edge, edge, edge);
  grid.filter(*out);
  pcl::NormalEstimation<Point, Point> normals;
  normals.setInputCloud(out);
  normals.setKSearch(20);
  normals.compute(*out);
  return out;
}

template <class Method>
Eigen::Matrix4d refined(Method method, const Cloud::Ptr& target, const Cloud::Ptr& source, double limit,
                        const Eigen::Matrix4d& start) {
  method.setInputTarget(target);
  method.setInputSource(source);
  method.setMaxCorrespondenceDistance(limit);
  method.setMaximumIterations(100);
  method.setTransformationEpsilon(1e-12);
  Cloud moved;
  method.align(moved, start.cast<float>());
  return method.getFinalTransformation().template cast<double>();
}

/// icp plane|gicp TARGET SOURCE EXTENT STARTS: from each start a first stage with voxels of 1 % and a limit of 5 % of the
/// extent, then one with voxels of 0.25 % and a limit of 1 %. One matrix per line, row by row.
int register_clouds(char** arguments) {
  const bool plane = std::strcmp(arguments[0], "plane") == 0;
  const Cloud::Ptr target = cloud_of(numbers(arguments[1])), source = cloud_of(numbers(arguments[2]));
  const double extent = std::atof(arguments[3]);
  const std::vector<double> starts = numbers(arguments[4]);
  struct Stage {
    Cloud::Ptr target, source;
    double limit;
  };
  const Stage stages[] = {{thinned(target, 0.01 * extent), thinned(source, 0.01 * extent), 0.05 * extent},
                          {thinned(target, 0.0025 * extent), thinned(source, 0.0025 * extent), 0.01 * extent}};
  for (std::size_t at = 0; at + 15 < starts.size(); at += 16) {
    Eigen::Matrix4d pose =
        Eigen::Map<const Eigen::Matrix<double, 4, 4, Eigen::RowMajor>>(starts.data() + at);
    for (const Stage& stage : stages)
      pose = plane ? refined(pcl::IterativeClosestPointWithNormals<Point, Point>(), stage.target,
                             stage.source, stage.limit, pose)
                   : refined(pcl::GeneralizedIterativeClosestPoint<Point, Point>(), stage.target,
                             stage.source, stage.limit, pose);
    for (int row = 0; row < 4; ++row)
      for (int column = 0; column < 4; ++column) std::printf("%.9g ", pose(row, column));
    std::printf("\n");
  }
  return 0;
}

/// greedy POINTS NORMALS RADIUS OUT: greedy projection triangulation (Marton et al. 2009); OUT gets the corners.
int triangulate(char** arguments) {
  const Cloud::Ptr cloud = cloud_of(numbers(arguments[0]));
  const std::vector<double> normals = numbers(arguments[1]);
  for (std::size_t i = 0; i < cloud->size(); ++i)
    for (int axis = 0; axis < 3; ++axis)
      (*cloud)[i].normal[axis] = static_cast<float>(normals[3 * i + static_cast<std::size_t>(axis)]);
  pcl::search::KdTree<Point>::Ptr tree(new pcl::search::KdTree<Point>);
  tree->setInputCloud(cloud);
  pcl::GreedyProjectionTriangulation<Point> greedy;
  greedy.setSearchRadius(std::atof(arguments[2]));
  greedy.setMu(2.5);
  greedy.setMaximumNearestNeighbors(100);
  greedy.setMaximumSurfaceAngle(M_PI / 4);
  greedy.setMinimumAngle(M_PI / 18);
  greedy.setMaximumAngle(2 * M_PI / 3);
  greedy.setNormalConsistency(true);
  greedy.setInputCloud(cloud);
  greedy.setSearchMethod(tree);
  std::vector<pcl::Vertices> polygons;
  greedy.reconstruct(polygons);
  std::ofstream out(arguments[3], std::ios::binary);
  for (const pcl::Vertices& polygon : polygons)
    for (const auto vertex : polygon.vertices) {
      const auto index = static_cast<std::uint32_t>(vertex);
      out.write(reinterpret_cast<const char*>(&index), sizeof(index));
    }
  return 0;
}

}  // namespace

int main(int count, char** arguments) {
  const std::string what = count > 1 ? arguments[1] : "";
  if (what == "icp" && count == 7) return register_clouds(arguments + 2);
  if (what == "greedy" && count == 6) return triangulate(arguments + 2);
  std::fprintf(stderr, "usage: peer-pcl icp plane|gicp TARGET SOURCE EXTENT STARTS | greedy POINTS NORMALS RADIUS OUT\n");
  return 2;
}
