#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "core/op_context.h"
#include "core/plant_structure.h"
#include "ops/plant/species.h"

namespace pc {

/// What an edit scales: the values of the structure document in the second column.
enum class MorphParameter : std::uint8_t {
  kInternodeLengthMax,    ///< internode_length, internode_length_max
  kInsertionAngleTip,     ///< pitch of base_rotation (not of base shoots), internode_pitch
  kGirthAreaFactor,       ///< internode_radius
  kGravitropicCurvature,  ///< curvature_perturbations
  kTortuosity,            ///< yaw_perturbations
  kLeafScale,             ///< leaf_scale
  kPetioleLength,         ///< petiole_length
  kPetioleRadius,         ///< petiole_radius
  kInternodeRadius        ///< internode_radius
};
inline constexpr std::size_t kMorphParameters = 9;

enum class MorphOperator : std::uint8_t {
  kSet,    ///< the factor becomes the value, whatever earlier edits made of it
  kScale,  ///< the factor is multiplied by it
  kAdd     ///< it is added to the factor
};

/// Changes the factor of one parameter, which is 1 at first.
struct MorphEdit {
  std::string shoot_type;  ///< "" = every one
  MorphParameter parameter;
  MorphOperator op;
  Distribution value;               ///< drawn once per phytomer
  double least = -1e3, most = 1e3;  ///< factors after this edit are limited to this range
};

struct MorphResult {
  PlantStructure plant;
  std::vector<std::uint32_t> unused;  ///< edits of shoot types that the plant does not have
};

/// The structure with scaled values. Organs that grow later follow the species again; those that exist keep their edit:
/// the growth state of a radius is scaled with it.
///
/// plant    any structure that its reader accepts.
/// Order    Draws depend on the plant's seed, its index, the shoot, the phytomer and the number of the edit alone.
/// Cost     O(phytomers x edits).
/// Cancel   Within 50 ms.
/// Errors   kInvalidArgument: values that are not finite, more than 1000 edits.
MorphResult morph(PlantStructure plant, const std::vector<MorphEdit>& edits, OpContext& ctx);

}  // namespace pc
