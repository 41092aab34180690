#pragma once
#include <optional>
#include <string>

#include "ops/octree/octree_build.h"

namespace pc::octree {

/// metadata.json of Potree 2: every number is finite; the extrema of an attribute without finite values are 0.
std::string metadata_json(const OctreeResult& result);
/// The result for which metadata_json writes exactly this text; none for any other text. Counts of nodes and bytes,
/// which the text does not contain, are 0, except record_bytes; tight_bounds are the position's extrema.
std::optional<OctreeResult> parse_metadata_json(const std::string& text);
/// attribute_labels.json: name -> label, for the attributes that have a label.
std::string labels_json(const OctreeResult& result);

}  // namespace pc::octree
