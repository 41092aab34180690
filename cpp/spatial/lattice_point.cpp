#include "spatial/lattice_point.h"

namespace pc {

namespace {

struct Lifted {
  std::int64_t u, v, lift;
};

Lifted lifted(const LatticePoint& p, const LatticePoint& origin) {
  const std::int64_t u = p.u - origin.u, v = p.v - origin.v;
  return {u, v, u * u + v * v};
}

int sign(std::int64_t value) { return (value > 0) - (value < 0); }

}  // namespace

int lattice_in_circle(const LatticePoint& a, const LatticePoint& b, const LatticePoint& c,
                      const LatticePoint& d) {
  const Lifted p = lifted(a, d), q = lifted(b, d), r = lifted(c, d);
  const std::int64_t qr = q.u * r.v - r.u * q.v, rp = r.u * p.v - p.u * r.v, pq = p.u * q.v - q.u * p.v;
  constexpr std::int64_t kSmall = std::int64_t{1} << 30;
  const auto small = [](std::int64_t value) { return value < kSmall && value > -kSmall; };
  if (p.lift < kSmall && q.lift < kSmall && r.lift < kSmall && small(qr) && small(rp) && small(pq))
    return sign(p.lift * qr + q.lift * rp + r.lift * pq);
  // lift < 2^45 times a product < 2^46 overflows 64 bits: the lift is split into two limbs, the lower one of 22 bits.
  constexpr int kBits = 22;
  constexpr std::int64_t kMask = (std::int64_t{1} << kBits) - 1;
  std::int64_t high = (p.lift >> kBits) * (qr >> kBits) + (q.lift >> kBits) * (rp >> kBits) +
                      (r.lift >> kBits) * (pq >> kBits);
  std::int64_t middle = (p.lift >> kBits) * (qr & kMask) + (p.lift & kMask) * (qr >> kBits) +
                        (q.lift >> kBits) * (rp & kMask) + (q.lift & kMask) * (rp >> kBits) +
                        (r.lift >> kBits) * (pq & kMask) + (r.lift & kMask) * (pq >> kBits);
  const std::int64_t low =
      (p.lift & kMask) * (qr & kMask) + (q.lift & kMask) * (rp & kMask) + (r.lift & kMask) * (pq & kMask);
  middle += low >> kBits;
  high += middle >> kBits;
  if (high != 0) return sign(high);
  return sign(((middle & kMask) << kBits) + (low & kMask));
}

}  // namespace pc
