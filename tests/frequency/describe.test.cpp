// SPDX-License-Identifier: MIT
#include <posgeo/frequency/dynamic_ntk.hpp>
#include <posgeo/frequency/linear_interpolated.hpp>
#include <posgeo/frequency/llama3.hpp>
#include <posgeo/frequency/longrope.hpp>
#include <posgeo/frequency/ntk_aware.hpp>
#include <posgeo/frequency/proportional.hpp>
#include <posgeo/frequency/yarn.hpp>

#include "support/catch.hpp"
#include "support/described.hpp"
#include "support/frequencies.hpp"

namespace frequency_describe_test {

using namespace posgeo;
using namespace posgeo::test;

/// The description of the rule after one thing of its settings was changed.
template <class Rule, class Settings, class Change>
description with(Settings settings, const Change& change) {
  change(settings);
  return Rule(settings).describe();
}

/// Each setting changed once.
template <class Rule, class Settings, class... Change>
void check_rule(const Settings& settings, const std::vector<std::string>& fields, const Change&... changes) {
  std::vector<changed_policy> made;
  std::size_t n = 0;
  (made.push_back({{fields.at(n++)}, with<Rule>(settings, changes)}), ...);
  CHECK(n == fields.size());
  check_described(Rule(settings).describe(), Rule(settings).describe(), made);
}

const auto base = [](auto& s) { s.base = 500000.0; };
const auto rotary_dim = [](auto& s) { s.rotary_dim = 6; };
const auto factor = [](auto& s) { s.factor = 4.0; };
const auto original = [](auto& s) { s.original_max_position = 512; };

TEST_CASE("a ladder of speeds says all that it depends on", "[describe]") {
  using namespace frequency;
  check_rule<geometric>(geometric_settings{.base = 10000.0, .rotary_dim = 8}, {"base", "rotary_dim"}, base, rotary_dim);
  check_rule<linear_interpolated>(linear_interpolated_settings{.base = 10000.0, .rotary_dim = 8, .factor = 2.0},
                                  {"base", "rotary_dim", "factor"}, base, rotary_dim, factor);
  check_rule<ntk_aware>(ntk_aware_settings{.base = 10000.0, .rotary_dim = 8, .factor = 2.0},
                        {"base", "rotary_dim", "factor"}, base, rotary_dim, factor);
  check_rule<proportional>(proportional_settings{.base = 10000.0, .rotary_dim = 8, .head_dim = 16},
                           {"base", "rotary_dim", "head_dim"}, base, rotary_dim, [](auto& s) { s.head_dim = 24; });
  check_rule<dynamic_ntk>(
      dynamic_ntk_settings{
          .base = 10000.0, .rotary_dim = 8, .factor = 2.0, .original_max_position = 1024, .sequence_length = 3000},
      {"base", "rotary_dim", "factor", "original_max_position", "sequence_length"}, base, rotary_dim, factor, original,
      [](auto& s) { s.sequence_length = 3001; });
  check_rule<llama3>(
      llama3_settings{.base = 10000.0,
                      .rotary_dim = 8,
                      .factor = 8.0,
                      .low_freq_factor = 1.0,
                      .high_freq_factor = 4.0,
                      .original_max_position = 8192},
      {"base", "rotary_dim", "factor", "low_freq_factor", "high_freq_factor", "original_max_position"}, base,
      rotary_dim, factor, [](auto& s) { s.low_freq_factor = 0.5; }, [](auto& s) { s.high_freq_factor = 5.0; },
      original);
}

TEST_CASE("YaRN says all that it depends on", "[describe]") {
  using namespace frequency;
  check_rule<yarn>(
      yarn_settings{.base = 10000.0,
                    .rotary_dim = 8,
                    .factor = 8.0,
                    .original_max_position = 4096,
                    .ramp = yarn_ramp::pair_index},
      {"base", "rotary_dim", "factor", "original_max_position", "ramp", "ramp", "beta_fast", "beta_slow",
       "attention_factor", "attention_factor"},
      base, rotary_dim, factor, original, [](auto& s) { s.ramp = yarn_ramp::exact_pair_index; },
      [](auto& s) { s.ramp = yarn_ramp::turns; }, [](auto& s) { s.beta_fast = 31.0; },
      [](auto& s) { s.beta_slow = 2.0; }, [](auto& s) { s.attention_factor = 1.0; },
      [](auto& s) { s.attention_factor = 1.5; });
}

TEST_CASE("LongRoPE says both of its lists, whichever its length chose", "[describe]") {
  using namespace frequency;
  const std::vector<double> brief{1.0, 1.1, 1.3, 2.0};
  const std::vector<double> lengthy{1.0, 2.5, 7.0, 9.0};
  const std::vector<double> other{1.0, 2.5, 7.5, 9.0};
  const std::vector<double> three{1.0, 2.0, 3.0};
  const longrope_settings settings{.base = 10000.0,
                                   .rotary_dim = 8,
                                   .short_factor = brief,
                                   .long_factor = lengthy,
                                   .original_max_position = 4096,
                                   .max_position = 131072,
                                   .sequence_length = 9000};
  std::vector<changed_policy> changes;
  const auto changed = [&](field_paths fields, const auto& change) {
    changes.push_back({std::move(fields), with<longrope>(settings, change)});
  };
  changed({"base"}, base);
  changed({"rotary_dim", "short_factor", "long_factor"}, [&](auto& s) {
    s.rotary_dim = 6;
    s.short_factor = three;
    s.long_factor = three;
  });
  changed({"short_factor"}, [&](auto& s) { s.short_factor = other; });
  changed({"long_factor"}, [&](auto& s) { s.long_factor = other; });
  changed({"original_max_position"}, original);
  changed({"max_position"}, [](auto& s) { s.max_position = 65536; });
  changed({"sequence_length"}, [](auto& s) { s.sequence_length = 4000; });
  changed({"attention_factor"}, [](auto& s) { s.attention_factor = 1.25; });
  check_described(longrope(settings).describe(), longrope(settings).describe(), changes);
}

TEST_CASE("LongRoPE keeps copies of its lists", "[describe]") {
  std::vector<double> brief{1.0, 1.5};
  std::vector<double> lengthy{3.0, 4.0};
  const frequency::longrope rule({.base = 100.0,
                                  .rotary_dim = 4,
                                  .short_factor = brief,
                                  .long_factor = lengthy,
                                  .original_max_position = 64,
                                  .max_position = 128,
                                  .sequence_length = 100});
  const auto speeds = speeds_of(rule);
  const description said = rule.describe();
  brief.assign(2, 7.0);
  lengthy.assign(2, 8.0);
  CHECK(speeds_of(rule) == speeds);
  CHECK(rule.describe() == said);
  CHECK(speeds.at(0) == 1.0 / 3.0);  // the long list
}

/// A rule of the caller's without a description.
struct silent {
  double second;
  double loudness;
  std::optional<index_t> length;
  index_t head;
  [[nodiscard]] index_t pairs() const { return 2; }
  [[nodiscard]] double at(index_t pair) const { return pair == 0 ? 1.0 : second; }
  [[nodiscard]] double attention_factor() const { return loudness; }
  [[nodiscard]] std::optional<index_t> sequence_length() const { return length; }
  [[nodiscard]] index_t head_dim() const { return head; }
};

TEST_CASE("a rule without a description is what it gives", "[describe]") {
  const silent rule{0.25, 1.5, 64, 8};
  const auto said = [&rule](const auto& change) {
    silent other = rule;
    change(other);
    return description_of(other);
  };
  check_described(description_of(rule), description_of(silent(rule)),
                  {{{"speeds"}, said([](silent& s) { s.second = 0.125; })},
                   {{"attention_factor"}, said([](silent& s) { s.loudness = 1.0; })},
                   {{"sequence_length"}, said([](silent& s) { s.length = std::nullopt; })},
                   {{"head_dim"}, said([](silent& s) { s.head = 4; })}});
}

}  // namespace frequency_describe_test
