#pragma once
#include <bitset>
#include <cstdint>

namespace pc {

/// Sectors of 10 degrees around an axis that hold points.
using Sectors = std::bitset<36>;

/// Share of the circle, 0..1, that the longest run of sectors with points takes. Gaps as wide as the widest that so many
/// points at random around the circle are expected to leave (ln n / n of it) do not end a run.
double longest_arc(const Sectors& sectors, std::uint32_t point_count);

}  // namespace pc
