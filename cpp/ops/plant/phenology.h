#pragma once
#include "core/plant_structure.h"
#include "ops/plant/species.h"

namespace pc {

/// A growing season: [start, end), days of the plant's age. Both infinite = there is none.
struct Season {
  double start, end;
};

/// The first season that ends after `day`: the present one, or during dormancy the next one.
///
/// Perennials (dormancy_break_day a > 0 and season_days f) have the seasons [k (a + f) + a, (k + 1) (a + f)) for every
/// whole k, also before age 0. Others have one: from a to the end, or with season_days to senescence.
Season season_at(const Phenology& phenology, double day);
/// Start of the first season that starts after `day`; infinity = none.
double next_season_start(const Phenology& phenology, double day);
/// Start of the year that contains `day` (dormancy and the season after it); -infinity without years.
double year_start(const Phenology& phenology, double day);
/// The first start of a dormancy after `day`; infinity = none.
double next_dormancy(const Phenology& phenology, double day);

/// The day on which a leaf falls that emerged on `birth_day`; infinity = never.
double leaf_fall_day(const Phenology& phenology, double birth_day);

/// When and how a floral bud develops.
struct FloralBudDays {
  double activation, initiation, opening, fruit_set, end;  ///< infinity = stage not modelled
};
FloralBudDays floral_bud_days(const Phenology& phenology, double birth_day, bool requires_dormancy);

struct FloralBudStage {
  FloralBudState state;
  double fruit_scale_factor;  ///< 0 unless fruiting
};
/// State of a bud on a day: dormant until activation, then dead unless it breaks; active until initiation; closed if
/// initiation or opening is modelled; open; at fruit set fruiting or dead; dead at the end of its season. The fruit has
/// 0.25 + 0.75 t / T of its full size during maturation.
FloralBudStage floral_bud_stage(const Phenology& phenology, const FloralBud& bud, bool requires_dormancy,
                                double day);

}  // namespace pc
