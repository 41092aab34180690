#include "binding/readers.h"

#include "binding/families.h"

namespace pc::binding {

void register_readers(Napi::Env env, Napi::Object exports) {
  exports.Set("readLas", Napi::Function::New<read_las>(env, "readLas"));
  exports.Set("readLasHeader", Napi::Function::New<read_las_header>(env, "readLasHeader"));
  exports.Set("readText", Napi::Function::New<read_text>(env, "readText"));
  exports.Set("sampleText", Napi::Function::New<sample_text>(env, "sampleText"));
  exports.Set("readPly", Napi::Function::New<read_ply>(env, "readPly"));
  exports.Set("readPlyHeader", Napi::Function::New<read_ply_header>(env, "readPlyHeader"));
  exports.Set("readPcd", Napi::Function::New<read_pcd>(env, "readPcd"));
  exports.Set("readPcdHeader", Napi::Function::New<read_pcd_header>(env, "readPcdHeader"));
  exports.Set("readE57", Napi::Function::New<read_e57>(env, "readE57"));
  exports.Set("readPcdSample", Napi::Function::New<read_pcd_sample>(env, "readPcdSample"));
  exports.Set("readE57Header", Napi::Function::New<read_e57_header>(env, "readE57Header"));
  exports.Set("readE57Sample", Napi::Function::New<read_e57_sample>(env, "readE57Sample"));
  exports.Set("readPtx", Napi::Function::New<read_ptx>(env, "readPtx"));
  exports.Set("readPtxHead", Napi::Function::New<read_ptx_head>(env, "readPtxHead"));
}

}  // namespace pc::binding
