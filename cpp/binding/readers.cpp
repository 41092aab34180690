#include "binding/readers.h"

#include "binding/coded.h"
#include "binding/families.h"

namespace pc::binding {

void register_readers(Napi::Env env, Napi::Object exports) {
  add<read_las>(env, exports, "readLas");
  add<read_las_header>(env, exports, "readLasHeader");
  add<read_text>(env, exports, "readText");
  add<sample_text>(env, exports, "sampleText");
  add<read_ply>(env, exports, "readPly");
  add<read_ply_header>(env, exports, "readPlyHeader");
  add<read_pcd>(env, exports, "readPcd");
  add<read_pcd_header>(env, exports, "readPcdHeader");
  add<read_e57>(env, exports, "readE57");
  add<read_pcd_sample>(env, exports, "readPcdSample");
  add<read_e57_header>(env, exports, "readE57Header");
  add<read_e57_sample>(env, exports, "readE57Sample");
  add<read_ptx>(env, exports, "readPtx");
  add<read_ptx_head>(env, exports, "readPtxHead");
}

}  // namespace pc::binding
