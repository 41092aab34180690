#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "core/op_context.h"

namespace pc::fuzz {

/// A reader under attack. `seeds` gives valid files, small ones first; `read` reads the file at `path`
/// completely and may throw pc::Error, nothing else.
struct FuzzTarget {
  const char* name;
  std::vector<std::vector<std::uint8_t>> (*seeds)();
  void (*read)(const std::string& path, OpContext& ctx);
};

// Each defined in <name>.cpp, listed in fuzz_main.cpp.
FuzzTarget las_target();
FuzzTarget laz_target();
FuzzTarget ply_target();
FuzzTarget pcd_target();
FuzzTarget text_target();
FuzzTarget e57_target();
FuzzTarget ptx_target();
FuzzTarget json_target();
FuzzTarget plant_target();
FuzzTarget qsm_target();
FuzzTarget skeleton_target();  // positions and parameters instead of a file
FuzzTarget qsm_build_target();
FuzzTarget qsm_model_target();  // records of a request instead of a file
FuzzTarget zcol_target();       // archive_targets.cpp
FuzzTarget npy_target();        // archive_targets.cpp
FuzzTarget obj_target();        // mesh_targets.cpp
FuzzTarget mtl_target();        // mesh_targets.cpp
FuzzTarget stl_target();        // mesh_targets.cpp
FuzzTarget ply_mesh_target();   // mesh_targets.cpp

}  // namespace pc::fuzz
