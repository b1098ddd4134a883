// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/frequency/dynamic_ntk.hpp>
#include <posgeo/frequency/geometric.hpp>
#include <posgeo/frequency/linear_interpolated.hpp>
#include <posgeo/frequency/llama3.hpp>
#include <posgeo/frequency/longrope.hpp>
#include <posgeo/frequency/proportional.hpp>
#include <posgeo/frequency/yarn.hpp>
#include <posgeo/transform/rotary.hpp>

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

#include "cases/operations.hpp"

namespace posgeo::cases {

using nlohmann::json;

/// Calls use(rotary) with the rotation under the input's scaling.
template <class Use>
json with_scaled_rotary(const json& in, transform::pairing pairs, const Use& use) {
  const json& scaling = in.at("scaling");
  const std::string type = scaling.at("type");
  const double base = in.at("base");
  const index_t rotary_dim = in.at("rotary_dim");
  const auto turn = [&](const auto& rule) { return use(transform::rotary(rule, {.pairs = pairs})); };
  if (type == "linear") {
    return turn(frequency::linear_interpolated(
        {.base = base, .rotary_dim = rotary_dim, .factor = scaling.at("factor").get<double>()}));
  }
  const auto original = [&scaling] { return scaling.at("original_max_position").get<index_t>(); };
  if (type == "llama3") {
    return turn(frequency::llama3({.base = base,
                                   .rotary_dim = rotary_dim,
                                   .factor = scaling.at("factor").get<double>(),
                                   .low_freq_factor = scaling.at("low_freq_factor").get<double>(),
                                   .high_freq_factor = scaling.at("high_freq_factor").get<double>(),
                                   .original_max_position = original()}));
  }
  if (type == "yarn") {
    const bool over_pairs = scaling.at("ramp") == "pair_index";
    if (!over_pairs && scaling.at("ramp") != "turns") throw not_supported("ramp " + scaling.at("ramp").dump());
    const auto ramp = !over_pairs                          ? frequency::yarn_ramp::turns
                      : scaling.at("truncate").get<bool>() ? frequency::yarn_ramp::pair_index
                                                           : frequency::yarn_ramp::exact_pair_index;
    return turn(frequency::yarn({.base = base,
                                 .rotary_dim = rotary_dim,
                                 .factor = scaling.at("factor").get<double>(),
                                 .original_max_position = original(),
                                 .ramp = ramp,
                                 .beta_fast = scaling.at("beta_fast"),
                                 .beta_slow = scaling.at("beta_slow")}));
  }
  if (type == "longrope") {
    const auto short_factor = scaling.at("short_factor").get<std::vector<double>>();
    const auto long_factor = scaling.at("long_factor").get<std::vector<double>>();
    return turn(
        frequency::longrope({.base = base,
                             .rotary_dim = rotary_dim,
                             .short_factor = short_factor,
                             .long_factor = long_factor,
                             .original_max_position = original(),
                             .max_position = scaling.at("max_position").get<index_t>(),
                             .sequence_length = in.at("q_offset").get<index_t>() + in.at("q_len").get<index_t>()}));
  }
  throw not_supported("frequency scaling " + type);
}

/// Calls use(rotary) with the rotation that the input describes.
template <class Use>
json with_rotary(const json& in, transform::pairing pairs, const Use& use) {
  const json variant = in.value("variant", json("standard"));
  if (in.contains("scaling")) {
    if (variant != "standard") throw not_supported("a scaled rotary variant " + variant.dump());
    return with_scaled_rotary(in, pairs, use);
  }
  const double base = in.at("base");
  const index_t rotary_dim = in.at("rotary_dim");
  if (variant == "standard") {
    const frequency::geometric speeds({.base = base, .rotary_dim = rotary_dim});
    return use(transform::rotary(speeds, {.pairs = pairs}));
  }
  if (variant == "proportional") {
    const frequency::proportional speeds(
        {.base = base, .rotary_dim = rotary_dim, .head_dim = in.at("head_dim").get<index_t>()});
    return use(transform::rotary(speeds, {.pairs = pairs}));
  }
  throw not_supported("rotary variant " + variant.dump());
}

}  // namespace posgeo::cases
