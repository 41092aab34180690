#pragma once
#include <array>
#include <cstddef>
#include <vector>

namespace pc {

/// Wavelengths of the leaf model: every nanometre from 400 to 2500.
inline constexpr std::size_t kFirstWavelength_nm = 400, kLeafWavelengths = 2101;

/// What absorbs light in a leaf, in the order of LeafConstants.
enum Constituent : std::size_t {
  kChlorophyll,   ///< a + b, ug/cm2
  kCarotenoids,   ///< ug/cm2
  kBrownPigment,  ///< arbitrary units
  kWater,         ///< equivalent water thickness, cm
  kDryMatter,     ///< g/cm2; in PROSPECT-PRO 0, replaced by the last two
  kAnthocyanins,  ///< ug/cm2
  kProtein,       ///< g/cm2
  kCarbonBased,   ///< carbon-based constituents other than protein, g/cm2
  kConstituents
};

/// Optical constants of leaf material.
struct LeafConstants {
  std::vector<double> refractive_index;  ///< (2101)
  /// (2101) specific absorption coefficients by constituent: one over the unit of its content.
  std::array<std::vector<double>, kConstituents> absorption;
};

/// The published constants of PROSPECT-D and -PRO in the compact form that ships with the program: lines between
/// selected wavelengths, which change reflectance and transmittance by less than 1e-4.
///
/// Source   Feret et al. 2017, Remote Sens. Environ. 193, 204 (D); Feret et al. 2021, Remote Sens. Environ. 252, 112173
///          (PRO); table dataSpec_PRO of github.com/jbferet/prospect, MIT licence. scripts/fit-leaf-constants.mjs.
const LeafConstants& leaf_constants();

}  // namespace pc
