#pragma once
#include <string>

#include "ops/octree/octree_build.h"

namespace pc::octree {

/// metadata.json of Potree 2: every number finite, extrema of an attribute without finite values 0.
std::string metadata_json(const OctreeResult& result);
/// attribute_labels.json: name -> label of the attributes that have one.
std::string labels_json(const OctreeResult& result);

}  // namespace pc::octree
