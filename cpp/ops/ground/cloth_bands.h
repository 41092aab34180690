#pragma once
#include <cstdint>

#include "core/memory.h"
#include "core/op_context.h"
#include "ops/ground/cloth_drop.h"
#include "ops/ground/cloth_simulation_kernel.h"

namespace pc {

/// The particles of a cloth in bands of 16 rows, laid out so that particles whose ties are corrected at once are
/// neighbours in memory: row r of a band is shifted by kRowDelay r columns, and a column of the band is contiguous. Each
/// band also holds copies of the two rows before it and after it.
class ClothBands {
 public:
  ClothBands(const TerrainWindow& terrain, const ClothDropParams& params, OpContext& ctx);

  /// Bytes of a cloth of nx by ny particles, with the state that keep() keeps.
  static std::uint64_t bytes(std::uint32_t nx, std::uint32_t ny);

  /// Steps that are worth making at a time: 1 for a small cloth or one thread.
  std::uint32_t steps_at_a_time() const;

  void steps(std::uint32_t count, float* furthest);
  void keep();
  void undo();
  /// Heights row by row.
  BulkVector<float> heights() const;

 private:
  struct State {
    BulkVector<float> height, previous, grip;
  };

  std::size_t band_size() const;
  std::size_t row_offset(std::size_t lane) const;
  float step_band(std::uint32_t band);
  void fall_band(std::uint32_t band);
  void pull_band(std::uint32_t band);
  float land_band(std::uint32_t band);
  void exchange(std::uint32_t band, bool in);
  void copy_state(const State& from, State& to);

  std::uint32_t nx_, ny_, bands_;
  cloth_kernel::Stiffness stiffness_;
  State now_, kept_;
  BulkVector<float> ground_;
  OpContext& ctx_;
};

}  // namespace pc
