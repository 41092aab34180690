#include "core/op_context.h"

#include "core/parallel.h"

namespace pc {

OpContext::OpContext(JobControl& control, Device device, int threads)
    : control_(control), device_(device), threads_(threads > 0 ? threads : hardware_threads()) {}

OpContext::OpContext(JobControl& own, const OpContext& whole)
    : control_(own), device_(Device::kCpu), threads_(1), whole_(&whole) {}

}  // namespace pc
