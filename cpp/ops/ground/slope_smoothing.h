#pragma once
#include <cstdint>

#include "core/memory.h"
#include "core/op_context.h"
#include "spatial/lattice.h"

namespace pc {

/// Steep slope fitting: where the settled cloth bridges a slope, particles are lowered to the terrain one after the
/// other, starting from particles that lie on it. A particle may follow its neighbour down if the terrain under the
/// two differs by less than 0.3 m. Only pieces of more than 50 connected free particles are treated: smaller ones are
/// trees and houses.
///
/// terrain  (lattice.cells()) inverted terrain; cloth: the settled cloth, equal to it where it lies on it
/// Returns how many particles were lowered.
/// Order    Sequential; the result is the set of particles that can be reached, whatever the order.
/// Cost     O(cells), 5 bytes per cell. Cancel within 50 ms; the cloth is then partly modified.
/// Source   Zhang et al. 2016 section 3.4 (h_cp = 0.3 m), piece size of the authors' published program.
std::uint64_t fit_steep_slopes(const Lattice& lattice, Span<const float> terrain, Span<float> cloth,
                               OpContext& ctx);

}  // namespace pc
