// SPDX-License-Identifier: MIT
#include "cases/scaled_rotary.hpp"

namespace posgeo::cases {
namespace {

json rope_ntk_base(const json& in) {
  json bases = json::array();
  for (const index_t length : in.at("seq_lens")) {
    const frequency::dynamic_ntk rule({.base = in.at("base").get<double>(),
                                       .rotary_dim = in.at("rotary_dim").get<index_t>(),
                                       .factor = in.at("factor").get<double>(),
                                       .original_max_position = in.at("original_max_position").get<index_t>(),
                                       .sequence_length = length});
    bases.push_back(rule.base());
  }
  return bases;
}

json rope_inv_freq(const json& in) {
  return with_rotary(in, transform::pairing::halves, [&](const auto& rotary) {
    json speeds = json::array();
    for (const std::size_t pair : in.at("pairs")) speeds.push_back(rotary.speeds().at(pair));
    return json{{"inv_freq", speeds}, {"attention_factor", rotary.attention_factor()}};
  });
}

}  // namespace

operations frequency_operations() { return {{"rope_ntk_base", rope_ntk_base}, {"rope_inv_freq", rope_inv_freq}}; }

}  // namespace posgeo::cases
