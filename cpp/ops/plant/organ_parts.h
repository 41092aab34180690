#pragma once
#include "ops/plant/organ_mesh.h"

namespace pc {

/// Shell or solid of revolution round +x with its copies. Closed unless it is a shell.
OrganMesh body_mesh(const BodyShape& body, double detail);

/// Blades round +x; of a closed flower with `is_closed`.
OrganMesh whorl_mesh(const WhorlShape& whorl, bool is_closed, double detail);

/// All parts in the shape's order, scaled so that the largest extent of the open organ is 1. Its base is the origin, its
/// axis +x. Empty when the shape has no parts.
OrganMesh organ_mesh(const OrganShape& organ, bool is_closed, double detail);

}  // namespace pc
