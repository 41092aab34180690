#include <cmath>
#include <string>
#include <vector>

#include "core/error.h"
#include "fuzz/fuzz_target.h"
#include "io/qsm_csv.h"
#include "ops/qsm/qsm_checks.h"
#include "ops/qsm/qsm_metrics.h"
#include "ops/qsm/shoot_table.h"

namespace pc::fuzz {

namespace {

std::vector<std::vector<std::uint8_t>> qsm_seeds() {
  const std::string head =
      "ID,parentID,branchID,branchOrder,segmentID,parentSegmentID,startX,startY,startZ,endX,"
      "endY,endZ,radius,surfaceCoverage,meanAbsDeviation\n";
  const std::string rows =
      "0,-1,,0,0,,1,2,3,1,2,4,0.25,0.5,0.001\n1,0,,0,0,,1,2,4,1,2,5,0.2,,\n2,1,7,1,3,0,1,2,5,2,2,5,1e-2,nan,"
      "\n";
  const std::string tree =
      "radius,length,start_1,start_2,start_3,axis_1,axis_2,axis_3,parent,branch,SurfCov,mad,BranchOrder\n"
      "0.1,2,1,1,1,0,0,2,0,1,0.9,0.01,0\n0.05,1,1,1,3,1,0,0,1,2,0.8,0.01,1\n";
  std::string semicolons = "\xef\xbb\xbf" + head + "\r\n\"0\"" + rows.substr(1);
  for (char& c : semicolons)
    if (c == ',') c = ';';
  std::string large = head;
  for (int i = 0; i < 2000; ++i)
    large += std::to_string(i) + "," + std::to_string(i / 2 - 1) + ",," + std::to_string(i % 5) +
             ",,,0,0,0.5,1,2,3,0.0" + std::to_string(1 + i) + ",0.5,0\n";
  std::vector<std::vector<std::uint8_t>> files;
  for (const std::string& text : {head + rows, tree, semicolons, large})
    files.emplace_back(text.begin(), text.end());
  return files;
}

/// Reads a table, rebuilds its shoots and measures the model; every model that is accepted is one.
void read_qsm_file(const std::string& path, OpContext& ctx) {
  const Qsm qsm = with_shoots(io::read_qsm_csv(path, ctx), ctx);
  const QsmMetrics metrics = qsm_metrics(qsm, ctx);
  check_qsm(qsm, ctx);
  for (const double value : {metrics.total_woody_volume_m3, metrics.total_length_m, metrics.canopy_width_m,
                             metrics.tree_height_m, metrics.tcsa_m2})
    if (!std::isfinite(value) || value < 0)
      throw Error(ErrorCode::kInternal, "a metric of an accepted model is no size");
}

}  // namespace

FuzzTarget qsm_target() { return {"qsm", qsm_seeds, read_qsm_file}; }

}  // namespace pc::fuzz
