#pragma once
#include <cstdint>

#include "core/error.h"
#include "io/laz/integer_model.h"

namespace pc::io::laz {

/// GPS times as multiples of the last time step, for up to four interleaved time sequences. Times are coded as the
/// 64-bit integers with the bits of the doubles. kHasUnchanged: items of version 2 have a symbol for "same time";
/// versions 3 and 4 code that elsewhere.
/// Source: LASzip 2 and 3 specifications, "GPSTIME11 version 2" and "GPS time layer".
template <bool kHasUnchanged>
class GpsTimeModel {
 public:
  void reset(std::uint64_t first) {
    step_model_.reset();
    still_model_.reset();
    integers_.reset();
    for (int i = 0; i < 4; ++i) {
      time_[i] = 0;
      step_[i] = 0;
      extremes_[i] = 0;
    }
    time_[0] = first;
    current_ = newest_ = 0;
  }

  /// One time to code: `time` is the real one for an encoder, and becomes the decoded one.
  template <class Coder>
  struct Call {
    GpsTimeModel* model;
    Coder* coder;
    std::uint64_t time;
  };

  /// Decodes the next time, or encodes `time` and returns it.
  template <class Coder>
  std::uint64_t code(Coder& coder, std::uint64_t time = 0) {
    std::array<Call<Coder>, 1> calls{{{this, &coder, time}}};
    code_all(calls);
    return time_[current_];
  }

  /// Codes one time of each of several streams, decoding symbol by symbol in turn (see IntegerModel::code_all).
  template <class Coder, std::size_t kCalls>
  static PC_INLINE void code_all(std::array<Call<Coder>, kCalls>& calls) {
    if constexpr (Coder::kDecodes) {
      std::array<Pending, kCalls> pending;
      std::array<typename Integers::template Call<Coder>, kCalls> integers;
      bool all = true;
      PC_UNROLL for (std::size_t i = 0; i < kCalls; ++i) {
        const Call<Coder>& call = calls[i];
        pending[i] = call.model->decode_kind(*call.coder);
        integers[i] =
            call.model->integers_.call(*call.coder, pending[i].predicted, 0, pending[i].factor.context);
        all = all && pending[i].kind != Kind::kDone;
      }
      if (all) {
        Integers::code_all(integers);
      } else {
        for (std::size_t i = 0; i < kCalls; ++i)
          if (pending[i].kind != Kind::kDone) calls[i].model->integers_.code_call(integers[i]);
      }
      PC_UNROLL for (std::size_t i = 0; i < kCalls; ++i) {
        GpsTimeModel& model = *calls[i].model;
        model.finish(pending[i], static_cast<std::int32_t>(integers[i].value));
        calls[i].time = model.time_[model.current_];
      }
    } else {
      for (const Call<Coder>& call : calls) call.model->encode(*call.coder, call.time);
    }
  }

 private:
  static constexpr std::int32_t kMost = 500, kLeast = -10;
  static constexpr std::uint32_t kSame = kMost - kLeast + 1;  ///< symbol "unchanged", if the version has one
  static constexpr std::uint32_t kFull = kSame + (kHasUnchanged ? 1 : 0);
  static constexpr std::uint32_t kSymbols = kFull + 4;
  static constexpr std::uint32_t kStillShift = kHasUnchanged ? 1 : 0;
  static constexpr std::uint32_t kStillSymbols = 5 + kStillShift;

  using Integers = IntegerModel<32, 9>;
  struct Factor {
    std::int32_t times;
    std::uint32_t context;
    bool extreme;
  };
  enum class Kind : std::uint8_t { kDone, kFirstStep, kStep };
  /// A time of which the integer is still to be decoded.
  struct Pending {
    Kind kind = Kind::kDone;
    std::int32_t predicted = 0;
    std::uint32_t symbol = 0;
    Factor factor{};
  };

  /// Decodes up to the integer. A switch of sequences is followed by a time of that sequence; a second switch occurs
  /// only in damaged streams.
  template <class Coder>
  PC_INLINE Pending decode_kind(Coder& coder) {
    Pending pending;
    for (int switches = 0; switches < 4; ++switches) {
      if (!(step_[current_] == 0 ? decode_still(coder, pending) : decode_step(coder, pending))) break;
    }
    return pending;
  }

  /// Returns true if the symbol only switched to another sequence.
  template <class Coder>
  bool decode_still(Coder& coder, Pending& pending) {
    const std::uint32_t symbol = coder.symbol(still_model_, kStillSymbols);
    if (kHasUnchanged && symbol == 0) return false;
    const std::uint32_t kind = symbol - kStillShift;
    if (kind == 0) {
      pending.kind = Kind::kFirstStep;
    } else if (kind == 1) {
      begin_sequence(coder, 0);
    } else {
      current_ = (current_ + kind - 1) & 3;
      return true;
    }
    return false;
  }

  template <class Coder>
  PC_INLINE bool decode_step(Coder& coder, Pending& pending) {
    const std::uint32_t symbol = coder.symbol_like(step_model_, kSymbols, 1);
    if (kHasUnchanged && symbol == kSame) return false;
    if (symbol == kFull) {
      begin_sequence(coder, 0);
      return false;
    }
    if (symbol > kFull) {
      current_ = (current_ + symbol - kFull) & 3;
      return true;
    }
    pending.factor = factor_of(symbol);
    pending.kind = Kind::kStep;
    pending.symbol = symbol;
    pending.predicted = times_step(pending.factor.times);
    return false;
  }

  PC_INLINE void finish(const Pending& pending, std::int32_t difference) {
    if (pending.kind == Kind::kDone) return;
    add(difference);
    if (pending.kind == Kind::kStep) return settle(pending.symbol, difference, pending.factor);
    step_[current_] = difference;
    extremes_[current_] = 0;
  }

  template <class Coder>
  void encode(Coder& coder, std::uint64_t time) {
    const bool still = step_[current_] == 0;
    if (kHasUnchanged && time == time_[current_]) {
      still ? coder.symbol(still_model_, kStillSymbols, 0) : coder.symbol(step_model_, kSymbols, kSame);
      return;
    }
    std::int32_t difference;
    if (fits(time, current_, difference)) {
      still ? encode_still(coder, difference) : encode_step(coder, difference);
      time_[current_] = time;
      return;
    }
    for (std::uint32_t ahead = 1; ahead < 4; ++ahead) {
      if (!fits(time, (current_ + ahead) & 3, difference)) continue;
      still ? coder.symbol(still_model_, kStillSymbols, ahead + 1 + kStillShift)
            : coder.symbol(step_model_, kSymbols, kFull + ahead);
      current_ = (current_ + ahead) & 3;
      return encode(coder, time);
    }
    still ? coder.symbol(still_model_, kStillSymbols, 1 + kStillShift)
          : coder.symbol(step_model_, kSymbols, kFull);
    begin_sequence(coder, time);
  }

  template <class Coder>
  std::uint32_t encode_still(Coder& coder, std::int32_t difference) {
    coder.symbol(still_model_, kStillSymbols, kStillShift);
    integers_.code_signed(coder, 0, difference, 0);
    step_[current_] = difference;
    extremes_[current_] = 0;
    return 0;
  }

  template <class Coder>
  std::uint32_t encode_step(Coder& coder, std::int32_t difference) {
    const float ratio = static_cast<float>(difference) / static_cast<float>(step_[current_]);
    const float bounded = ratio > kMost    ? static_cast<float>(kMost)
                          : ratio < kLeast ? static_cast<float>(kLeast)
                                           : ratio;
    const auto times = static_cast<std::int32_t>(bounded >= 0 ? bounded + 0.5F : bounded - 0.5F);
    const auto symbol = static_cast<std::uint32_t>(times >= 0 ? times : kMost - times);
    coder.symbol(step_model_, kSymbols, symbol);
    const Factor factor = factor_of(symbol);
    integers_.code_signed(coder, times_step(factor.times), difference, factor.context);
    settle(symbol, difference, factor);
    return 0;
  }

  static Factor factor_of(std::uint32_t symbol) {
    const auto times = static_cast<std::int32_t>(symbol);
    if (times == 0) return {0, 7, true};
    if (times == 1) return {1, 1, false};
    if (times < kMost) return {times, times < 10 ? 2U : 3U, false};
    if (times == kMost) return {kMost, 4, true};
    return kMost - times > kLeast ? Factor{kMost - times, 5, false} : Factor{kLeast, 6, true};
  }

  /// After four steps in a row that no factor predicted, the step itself is replaced.
  void settle(std::uint32_t symbol, std::int32_t difference, const Factor& factor) {
    extremes_[current_] = symbol == 1 ? 0 : extremes_[current_];
    if (factor.extreme && ++extremes_[current_] > 3) {
      step_[current_] = difference;
      extremes_[current_] = 0;
    }
  }

  template <class Coder>
  void begin_sequence(Coder& coder, std::uint64_t time) {
    const std::uint32_t high = integers_.code(coder, static_cast<std::uint32_t>(time_[current_] >> 32),
                                              static_cast<std::uint32_t>(time >> 32), 8);
    const std::uint32_t low = coder.word(static_cast<std::uint32_t>(time));
    current_ = newest_ = (newest_ + 1) & 3;
    time_[current_] = (static_cast<std::uint64_t>(high) << 32) | low;
    step_[current_] = 0;
    extremes_[current_] = 0;
  }

  bool fits(std::uint64_t time, std::uint32_t sequence, std::int32_t& difference) const {
    const auto wide = static_cast<std::int64_t>(time - time_[sequence]);
    difference = static_cast<std::int32_t>(wide);
    return wide == difference;
  }
  std::int32_t times_step(std::int32_t times) const {
    return static_cast<std::int32_t>(static_cast<std::uint32_t>(times) *
                                     static_cast<std::uint32_t>(step_[current_]));
  }
  void add(std::int32_t difference) {
    time_[current_] += static_cast<std::uint64_t>(static_cast<std::int64_t>(difference));
  }

  std::uint64_t time_[4];
  std::int32_t step_[4];
  std::int32_t extremes_[4];
  std::uint32_t current_ = 0, newest_ = 0;
  SymbolModel<kSymbols> step_model_;
  SymbolModel<kStillSymbols> still_model_;
  Integers integers_;
};

}  // namespace pc::io::laz
