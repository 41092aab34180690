#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace pc::fuzz {

using Bytes = std::vector<std::uint8_t>;

/// The input of case `index`: a function of seeds, seed and index alone, so one case can be run again on its
/// own. Every fourth case cuts a seed, going through every length of every seed in turn; the others apply one
/// to six random changes: flipped bytes, noise, telling integers, copied, moved, doubled or deleted pieces,
/// pieces of other seeds, longer or signed numbers in text.
Bytes make_case(const std::vector<Bytes>& seeds, std::uint64_t seed, std::uint64_t index);

}  // namespace pc::fuzz
