#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "ops/octree/octree_build.h"
#include "ops/octree/octree_frame.h"

namespace pc::octree {

/// Type of an attribute's values in the records. 64-bit types become float, because viewers rescale every double; only
/// the attribute "gps-time", which needs more digits than a float has, is a double.
DType stored_dtype(const OctreeAttribute& attribute);
/// Bytes of one row's value in a record.
std::uint32_t stored_size(const OctreeAttribute& attribute);

/// Checks sizes, names and params; errors of octree_build.
void check_input(const OctreeInput& input, const OctreeParams& params);

/// The position and every attribute, with their exact ranges over the rows not skipped.
std::vector<OctreeAttributeInfo> measure_attributes(const OctreeInput& input, const Frame& frame,
                                                    OpContext& ctx);

/// Writes the values of `rows` of one attribute to records: record i starts at out + i * stride.
void gather_values(const OctreeAttribute& attribute, Span<const std::uint32_t> rows, std::byte* out,
                   std::size_t stride);

}  // namespace pc::octree
