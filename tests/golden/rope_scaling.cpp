// SPDX-License-Identifier: MIT
#include <posgeo/attend/eager.hpp>
#include <posgeo/frequency/dynamic_ntk.hpp>
#include <posgeo/frequency/linear_interpolated.hpp>
#include <posgeo/frequency/llama3.hpp>
#include <posgeo/frequency/longrope.hpp>
#include <posgeo/frequency/yarn.hpp>
#include <posgeo/transform/rotary.hpp>

#include <fmt/core.h>

#include "golden/mechanisms.hpp"
#include "golden/rotations.hpp"

namespace posgeo::golden {
namespace {

/// Calls use(rule) with the speeds that the case describes, for a sequence of the given length.
template <class Use>
void with_scaled_speeds(const golden_case& c, index_t sequence_length, const Use& use) {
  const double base = c.number("rope_theta");
  const auto rotary_dim =
      static_cast<index_t>(static_cast<double>(c.integer("head_dim")) * c.number_or("partial_rotary_factor", 1.0));
  const std::string& type = c.text("rope_type");
  if (type == "linear") {
    use(frequency::linear_interpolated({.base = base, .rotary_dim = rotary_dim, .factor = c.number("factor")}));
  } else if (type == "dynamic") {
    use(frequency::dynamic_ntk({.base = base,
                                .rotary_dim = rotary_dim,
                                .factor = c.number("factor"),
                                .original_max_position = c.integer("max_position_embeddings"),
                                .sequence_length = sequence_length}));
  } else if (type == "llama3") {
    use(frequency::llama3({.base = base,
                           .rotary_dim = rotary_dim,
                           .factor = c.number("factor"),
                           .low_freq_factor = c.number("low_freq_factor"),
                           .high_freq_factor = c.number("high_freq_factor"),
                           .original_max_position = c.integer("original_max_position_embeddings")}));
  } else if (type == "yarn") {
    const double factor = c.number("factor");
    frequency::yarn_settings settings{.base = base,
                                      .rotary_dim = rotary_dim,
                                      .factor = factor,
                                      .original_max_position = c.integer("original_max_position_embeddings"),
                                      .ramp = c.has("truncate") && !c.flag("truncate")
                                                  ? frequency::yarn_ramp::exact_pair_index
                                                  : frequency::yarn_ramp::pair_index};
    settings.beta_fast = c.number_or("beta_fast", settings.beta_fast);
    settings.beta_slow = c.number_or("beta_slow", settings.beta_slow);
    if (c.has("mscale")) {
      settings.attention_factor = frequency::mscale_ratio(
          {.factor = factor, .mscale = c.number("mscale"), .mscale_all_dim = c.number("mscale_all_dim")});
    }
    use(frequency::yarn(settings));
  } else if (type == "longrope") {
    use(frequency::longrope({.base = base,
                             .rotary_dim = rotary_dim,
                             .short_factor = c.numbers("short_factor"),
                             .long_factor = c.numbers("long_factor"),
                             .original_max_position = c.integer("original_max_position_embeddings"),
                             .max_position = c.integer("max_position_embeddings"),
                             .sequence_length = sequence_length}));
  } else {
    throw std::runtime_error("unknown rope_type: " + type);
  }
}

template <class T>
outputs<T> produce_rope_scaling(const golden_case& c) {
  outputs<T> out;
  const auto add_speeds = [&](const std::string& name, index_t sequence_length) {
    with_scaled_speeds(c, sequence_length, [&](const auto& rule) {
      out.add(name, transform::rotary(rule, {.pairs = transform::pairing::halves}).speeds());
    });
  };
  if (c.has_output("inv_freq")) add_speeds("inv_freq", 1);  // the reference without a length: the trained one at most
  for (const index_t length : {1000, 2048, 2049, 4096, 4097, 10000}) {
    const std::string name = fmt::format("inv_freq_seq{}", length);
    if (c.has_output(name)) add_speeds(name, length);
  }
  with_scaled_speeds(c, 1, [&](const auto& rule) {
    const transform::rotary policy(rule, {.pairs = transform::pairing::halves});
    out.add("attention_factor", std::vector<double>{policy.attention_factor()});
    if (!c.has_input("position_ids")) return;

    const auto& extents = c.shape("q");
    const heads layout{.query = extents[1], .key_value = c.shape("k")[1], .dim = extents[3]};
    const auto call = at_position_ids(c);
    turn_as_llama(policy, call, layout, c, out);
    const auto query = c.values<T>("q");
    const auto key = c.values<T>("k");
    const auto q = heads_first(query.data(), call.batch(), layout.query, call.queries(), layout.dim);
    const auto k = heads_first(key.data(), call.batch(), layout.key_value, call.keys(), layout.dim);
    const attention model{layout, scale::inverse_sqrt_head_dim{}, policy, visible::everything{}};
    const auto result = attend(eager{}, model.template compile<T>(call), {q, k, k}, also::scores);
    out.add("logits", result.scores.values());
  });
  return out;
}

}  // namespace

mechanism rope_scaling() { return {"rope_scaling", produce_rope_scaling<double>, produce_rope_scaling<float>}; }

}  // namespace posgeo::golden
