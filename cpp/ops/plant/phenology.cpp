#include "ops/plant/phenology.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace pc {

namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

bool has_years(const Phenology& p) { return p.dormancy_break_day > 0 && p.season_days.has_value(); }
double year_length(const Phenology& p) { return p.dormancy_break_day + *p.season_days; }

/// Largest whole k with k * length <= day.
double year_number(double length, double day) {
  double k = std::floor(day / length);
  if ((k + 1) * length <= day) k += 1;  // the quotient was rounded across a whole number
  if (k * length > day) k -= 1;
  return k;
}

}  // namespace

Season season_at(const Phenology& p, double day) {
  if (!has_years(p)) {
    const double end = p.season_days.value_or(kNever);
    return day < end ? Season{p.dormancy_break_day, end} : Season{kNever, kNever};
  }
  const double length = year_length(p), k = year_number(length, day);
  return {k * length + p.dormancy_break_day, (k + 1) * length};
}

double next_season_start(const Phenology& p, double day) {
  if (!has_years(p)) return day < p.dormancy_break_day ? p.dormancy_break_day : kNever;
  const Season season = season_at(p, day);
  return day < season.start ? season.start : season_at(p, season.end).start;
}

double year_start(const Phenology& p, double day) {
  if (!has_years(p)) return -kNever;
  return year_number(year_length(p), day) * year_length(p);
}

double next_dormancy(const Phenology& p, double day) { return has_years(p) ? season_at(p, day).end : kNever; }

double leaf_fall_day(const Phenology& p, double birth_day) {
  const double aged = birth_day + p.leaf_lifespan_days.value_or(kNever);
  return p.evergreen ? aged : std::min(aged, season_at(p, birth_day).end);
}

FloralBudDays floral_bud_days(const Phenology& p, double birth_day, bool requires_dormancy) {
  FloralBudDays days{kNever, kNever, kNever, kNever, kNever};
  days.activation = requires_dormancy ? next_season_start(p, birth_day)
                                      : std::max(birth_day, season_at(p, birth_day).start);
  if (days.activation == kNever) return days;
  const Season season = season_at(p, days.activation);
  days.end = season.end;
  double at = std::max(days.activation, season.start + p.flower_initiation_days.value_or(0));
  if (p.flower_initiation_days || p.flower_opening_days) days.initiation = at;
  if (p.flower_opening_days) days.opening = at += *p.flower_opening_days;
  if (p.fruit_set_days) days.fruit_set = at + *p.fruit_set_days;
  return days;
}

FloralBudStage floral_bud_stage(const Phenology& p, const FloralBud& bud, bool requires_dormancy,
                                double day) {
  using enum FloralBudState;
  const FloralBudDays days = floral_bud_days(p, bud.birth_day, requires_dormancy);
  if (day < days.activation) return {kDormant, 0};
  if (!bud.breaks || day >= days.end) return {kDead, 0};
  if (day >= days.fruit_set) {
    if (!bud.sets_fruit) return {kDead, 0};
    const double ripe = p.fruit_maturity_days ? (day - days.fruit_set) / *p.fruit_maturity_days : 1;
    return {kFruiting, 0.25 + 0.75 * std::min(1.0, ripe)};
  }
  if (day >= days.opening) {
    const bool fruit_follows = bud.sets_fruit && days.fruit_set != kNever;
    const bool wilted = day >= days.opening + p.flower_lifespan_days.value_or(kNever);
    return {wilted && !fruit_follows ? kDead : kFlowerOpen, 0};
  }
  return {day >= days.initiation ? kFlowerClosed : kActive, 0};
}

}  // namespace pc
