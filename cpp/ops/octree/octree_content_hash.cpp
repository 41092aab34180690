#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <string>
#include <vector>

#include "core/memory.h"
#include "core/parallel.h"
#include "core/random.h"
#include "ops/octree/octree_attributes.h"
#include "ops/octree/octree_build.h"

namespace pc {

namespace {

constexpr std::uint64_t kBuilderVersion = 2;  // raise it if the same input would give other bytes
constexpr std::size_t kBlockRows = std::size_t{1} << 16;
constexpr std::size_t kLanes = 8;
/// Odd constants: fractional parts of the square roots of the first eight primes, lowest bit set.
constexpr std::array<std::uint64_t, kLanes> kMultipliers = {
    0x6a09e667f3bcc909, 0xbb67ae8584caa73b, 0x3c6ef372fe94f82b, 0xa54ff53a5f1d36f1,
    0x510e527fade682d1, 0x9b05688c2b3e6c1f, 0x1f83d9abfb41bd6b, 0x5be0cd19137e2179};

using Digest = std::array<std::uint64_t, 3>;

std::uint64_t mix(std::uint64_t lane, std::uint64_t word, std::uint64_t multiplier) {
  lane = (lane ^ word) * multiplier;
  return lane ^ lane >> 32;
}

Digest digest_of(const std::byte* bytes, std::size_t size) {
  std::array<std::uint64_t, kLanes> lanes = kMultipliers;
  std::array<std::uint64_t, kLanes> words;
  std::size_t at = 0;
  for (; at + sizeof words <= size; at += sizeof words) {
    std::memcpy(words.data(), bytes + at, sizeof words);
    for (std::size_t i = 0; i < kLanes; ++i) lanes[i] = mix(lanes[i], words[i], kMultipliers[i]);
  }
  words = {};
  if (at < size) std::memcpy(words.data(), bytes + at, size - at);
  for (std::size_t i = 0; i < kLanes; ++i) lanes[i] = mix(lanes[i], words[i], kMultipliers[i]);
  Digest digest{size, size, size};
  for (std::size_t part = 0; part < digest.size(); ++part) {
    for (std::size_t i = 0; i < kLanes; ++i) digest[part] = random_u64(digest[part] ^ lanes[i], 8 * part + i);
  }
  return digest;
}

/// Folds digests in order.
class Fold {
 public:
  void add(const Digest& digest) {
    for (std::size_t part = 0; part < state_.size(); ++part) {
      state_[part] = random_u64(state_[part] ^ digest[part], part + 3 * count_);
    }
    state_[0] ^= std::rotl(state_[2], 21);  // mixes the parts: 192 bits of state, not three times 64
    state_[1] ^= std::rotl(state_[0], 43);
    state_[2] ^= std::rotl(state_[1], 11);
    ++count_;
  }
  void add(const std::string& text) {
    add(digest_of(reinterpret_cast<const std::byte*>(text.data()), text.size()));
  }
  void add(std::uint64_t value) { add(digest_of(reinterpret_cast<const std::byte*>(&value), sizeof value)); }
  std::array<std::uint8_t, 20> id() const {
    std::array<std::uint8_t, 20> out;
    for (std::size_t i = 0; i < out.size(); ++i)
      out[i] = static_cast<std::uint8_t>(state_[i / 8] >> (56 - 8 * (i % 8)));
    return out;
  }

 private:
  Digest state_{};
  std::uint64_t count_ = 0;
};

/// Number of rows not skipped, and the first row of each block of kBlockRows of them.
struct Selection {
  std::uint64_t count = 0;
  BulkVector<std::uint64_t> first_row;
};

Selection select_rows(const OctreeInput& input, OpContext& ctx) {
  Selection selection;
  const std::size_t rows = input.positions.size, chunks = (rows + kBlockRows - 1) / kBlockRows;
  if (input.skip.empty()) {
    selection.count = rows;
    for (std::size_t row = 0; row < rows; row += kBlockRows) selection.first_row.push_back(row);
    return selection;
  }
  BulkVector<std::uint32_t> kept(chunks);
  parallel_for(ctx, chunks, 1, [&](std::size_t chunk, std::size_t) {
    const std::size_t begin = chunk * kBlockRows, end = std::min(rows, begin + kBlockRows);
    for (std::size_t row = begin; row < end; ++row) kept[chunk] += input.skip[row] == 0;
  });
  for (std::size_t chunk = 0; chunk < chunks; ++chunk) {
    const std::uint64_t next_block =
        selection.first_row.size() * kBlockRows;  // rank of the first row of the next block
    if (selection.count + kept[chunk] > next_block) {
      std::uint64_t rank = selection.count;
      std::size_t row = chunk * kBlockRows;
      while (rank < next_block || input.skip[row] != 0) rank += input.skip[row++] == 0;
      selection.first_row.push_back(row);
    }
    selection.count += kept[chunk];
  }
  return selection;
}

Digest digest_block(const std::byte* column, std::size_t element, const OctreeInput& input,
                    std::size_t first_row, std::size_t count, BulkVector<std::byte>& copy) {
  if (input.skip.empty()) return digest_of(column + first_row * element, count * element);
  copy.reserve(kBlockRows * element);
  std::byte* out = copy.data();
  std::size_t row = first_row;
  for (std::size_t i = 0; i < count; ++row) {
    if (input.skip[row] != 0) continue;
    std::memcpy(out + i++ * element, column + row * element, element);
  }
  return digest_of(copy.data(), count * element);
}

}  // namespace

std::array<std::uint8_t, 20> octree_content_hash(const OctreeInput& input, const OctreeParams& params,
                                                 OpContext& ctx) {
  octree::check_input(input, params);
  ctx.begin_phase("Hashing point data", 0);
  const Selection selection = select_rows(input, ctx);
  const std::size_t blocks = selection.first_row.size(), columns = 1 + input.attributes.size();
  BulkVector<Digest> digests(blocks * columns);
  std::vector<BulkVector<std::byte>> copies(static_cast<std::size_t>(ctx.threads()));
  ctx.begin_phase("Hashing point data", digests.size());
  parallel_for_worker(ctx, digests.size(), 1, [&](std::size_t i, std::size_t, int worker) {
    const std::size_t block = i / columns, column = i % columns, first = block * kBlockRows;
    const AnyColumn* values = column == 0 ? nullptr : input.attributes[column - 1].values;
    const std::byte* data =
        values == nullptr ? reinterpret_cast<const std::byte*>(input.positions.data) : values->data();
    const std::size_t element = values == nullptr ? sizeof(Vec3d) : dtype_size(values->dtype());
    const std::size_t count = std::min<std::uint64_t>(kBlockRows, selection.count - first);
    digests[i] = digest_block(data, element, input, selection.first_row[block], count,
                              copies[static_cast<std::size_t>(worker)]);
  });
  Fold fold;
  fold.add(kBuilderVersion);
  fold.add(std::bit_cast<std::uint64_t>(params.scale));
  fold.add(params.leaf_capacity);
  fold.add(selection.count);
  fold.add(columns);
  for (const OctreeAttribute& attribute : input.attributes) {
    fold.add(attribute.name);
    fold.add(attribute.label);
    fold.add(static_cast<std::uint64_t>(attribute.values->dtype()));
  }
  for (const Digest& digest : digests) fold.add(digest);
  return fold.id();
}

}  // namespace pc
