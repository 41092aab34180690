#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "ops/octree/octree_build.h"
#include "ops/octree/octree_frame.h"

namespace pc::octree {

/// Name of a column's type in metadata.json. 64-bit integers become double: viewers read no other 64-bit type.
const char* stored_type(DType type);
/// Bytes of one row's value in a record.
std::uint32_t stored_size(DType type);

/// Checks sizes, names and params; errors of octree_build.
void check_input(const OctreeInput& input, const OctreeParams& params);

/// The position and every attribute, with their exact ranges over the rows not skipped.
std::vector<OctreeAttributeInfo> measure_attributes(const OctreeInput& input, const Frame& frame,
                                                    OpContext& ctx);

/// Writes the values of `rows` of one column to records: record i starts at out + i * stride.
void gather_values(const AnyColumn& column, Span<const std::uint32_t> rows, std::byte* out,
                   std::size_t stride);

}  // namespace pc::octree
