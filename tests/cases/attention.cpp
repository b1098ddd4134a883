// SPDX-License-Identifier: MIT
#include <posgeo/bias/pair.hpp>
#include <posgeo/call/packed_batch.hpp>
#include <posgeo/scale/constant.hpp>
#include <posgeo/scale/none.hpp>
#include <posgeo/scale/softcap.hpp>
#include <posgeo/visible/active.hpp>
#include <posgeo/visible/causal.hpp>
#include <posgeo/visible/custom.hpp>
#include <posgeo/visible/everything.hpp>
#include <posgeo/visible/segments.hpp>

#include <limits>
#include <optional>
#include <regex>

#include "cases/json_tensors.hpp"
#include "cases/masks.hpp"

namespace posgeo::cases {
namespace {

/// Hidden pairs as a bias of -infinity, visible ones as 0: it may differ by head, which no visibility does.
tensor<double, 4> hiding(const tensor<double, 4>& allowed) {
  tensor<double, 4> out(allowed.extents());
  for (std::size_t n = 0; n < out.values().size(); ++n) {
    out.values()[n] = allowed.values()[n] != 0.0 ? 0.0 : -std::numeric_limits<double>::infinity();
  }
  return out;
}

/// A rule of the caller's own: `allowed` [batch or 1, 1, queries or 1, keys or 1].
auto showing(const tensor<double, 4>& allowed) {
  return visible::custom([&allowed](const position_call&, batch_index b, query_index i, key_index j) noexcept {
    const auto along = [&](std::size_t axis, index_t at) { return allowed.extent(axis) == 1 ? 0 : at; };
    return allowed(along(0, b.value()), 0, along(2, i.value()), along(3, j.value())) != 0.0;
  });
}

/// What one attention is asked; biases and masks broadcast along axes of extent 1.
struct question {
  tensor<double, 4> q;
  tensor<double, 4> k;
  tensor<double, 4> v;
  double scale = 1.0;
  tensor<double, 4> bias = tensor<double, 4>({1, 1, 1, 1});
  std::optional<tensor<double, 4>> allowed = std::nullopt;
};

attention_result<double> answer(const question& asked) {
  const auto call = call_at(counting(0, asked.q.extent(2)), counting(0, asked.k.extent(2)), asked.q.extent(0));
  const heads layout{.query = asked.q.extent(1), .key_value = asked.k.extent(1), .dim = asked.q.extent(3)};
  const scale::constant scale(asked.scale);
  const bias::pair<double> bias(asked.bias.view());
  if (!asked.allowed) {
    return run(attention{layout, scale, bias, visible::everything{}}, call, asked.q, asked.k, asked.v);
  }
  if (asked.allowed->extent(1) == 1) {
    return run(attention{layout, scale, bias, showing(*asked.allowed)}, call, asked.q, asked.k, asked.v);
  }
  const auto hidden = hiding(*asked.allowed);
  return run(attention{layout, scale, bias, bias::pair<double>(hidden.view()), visible::everything{}}, call, asked.q,
             asked.k, asked.v);
}

json attention_op(const json& in) {
  question asked{.q = read_tensor(in.at("q")), .k = {}, .v = {}, .scale = in.at("scale")};
  const index_t dim = asked.q.extent(3);
  asked.k = read_tensor(in.at("k"), {asked.q.extent(0), asked.q.extent(1), 0, dim});
  asked.v = read_tensor(in.at("v"), {asked.q.extent(0), asked.q.extent(1), 0, in.value("v_dim", dim)});
  if (in.contains("bias")) asked.bias = read_tensor(in.at("bias"));
  if (in.contains("allowed")) asked.allowed = read_tensor(in.at("allowed"));
  const auto result = answer(asked);
  return {{"out", nested(result.output)}, {"lse", nested(result.log_sum_exp)}};
}

json attention_shape(const json& in) {
  const std::array<index_t, 4> queries{in.at("B"), in.at("H"), in.at("Lq"), in.at("D")};
  const tensor<double, 4> keys({queries[0], queries[1], in.at("Lk"), queries[3]});
  return answer({.q = tensor<double, 4>(queries), .k = keys, .v = keys}).output.extents();
}

/// Vectors given as lists of (index, value).
json attention_sparse(const json& in) {
  const index_t dim = in.at("head_dim");
  const auto dense = [dim](const json& rows) {
    tensor<double, 4> out({1, 1, static_cast<index_t>(rows.size()), dim});
    for (index_t n = 0; n < out.extent(2); ++n) {
      for (const json& entry : rows[static_cast<std::size_t>(n)]) out(0, 0, n, entry[0].get<index_t>()) = entry[1];
    }
    return out;
  };
  const auto result = answer({.q = dense(json::array({in.at("q_nonzero")})),
                              .k = dense(in.at("k_nonzero")),
                              .v = dense(in.at("v_nonzero")),
                              .scale = in.at("scale")});
  return {{"last", result.output(0, 0, 0, dim - 1)}, {"lse", result.log_sum_exp(0, 0, 0)}};
}

/// The number that a rule "c", "j" or "c*(j==n)" gives key j.
double by_rule(const std::string& rule, index_t j) {
  static const std::regex at_one_key(R"((-?[\d.]+)\*\(j==(\d+)\))");
  std::smatch said;
  if (rule == "j") return static_cast<double>(j);
  if (std::regex_match(rule, said, at_one_key)) return std::stoll(said[2]) == j ? std::stod(said[1]) : 0.0;
  if (std::regex_match(rule, std::regex(R"(-?[\d.]+)"))) return std::stod(rule);
  throw not_supported("rule " + rule);
}

json attention_rule(const json& in) {
  const index_t keys = in.at("Lk");
  std::vector<double> logits;
  std::vector<double> values;
  for (index_t j = 0; j < keys; ++j) {
    logits.push_back(by_rule(in.at("logits_rule"), j));
    values.push_back(by_rule(in.at("v_rule"), j));
  }
  question asked{.q = column({1.0}), .k = column(logits), .v = column(values), .scale = in.at("scale")};
  if (!in.at("allowed_keys").is_null()) {
    asked.allowed = tensor<double, 4>({1, 1, 1, keys});
    for (const index_t j : in.at("allowed_keys")) (*asked.allowed)(0, 0, 0, j) = 1.0;
  }
  const auto result = answer(asked);
  return {{"out", result.output(0, 0, 0, 0)}, {"lse", result.log_sum_exp(0, 0, 0)}};
}

tensor<double, 4> key_row(const json& numbers) { return one_head(json::array({numbers})); }

/// One query with the given scores.
json attention_row(const json& in) {
  std::vector<double> scores;
  if (in.at("scores").is_string()) {
    expect(in, "scores", "-k/256 for k = 0..255");
    for (int k = 0; k < 256; ++k) scores.push_back(-k / 256.0);
  } else {
    scores = in.at("scores").get<std::vector<double>>();
  }
  std::vector<double> values(scores.size(), 1.0);
  if (in.at("values").is_array()) values = in.at("values").get<std::vector<double>>();
  if (in.at("values").is_string()) expect(in, "values", "all 1");
  question asked{.q = column({1.0}), .k = column(scores), .v = column(values)};
  if (in.contains("visible")) asked.allowed = key_row(in.at("visible"));
  const auto result = answer(asked);
  return {{"output", result.output(0, 0, 0, 0)}, {"lse", result.log_sum_exp(0, 0, 0)}};
}

/// A mask as scores see it: no content, and a key is shown or not.
json additive_mask_build(const json& in) {
  const std::vector<double> zeros(in.at("keep").size());
  const auto result =
      answer({.q = column({0.0}), .k = column(zeros), .v = column(zeros), .allowed = key_row(in.at("keep"))});
  return {{"additive", nested(result.scores)[0][0][0]}};
}

json attention_weights_bias_scale(const json& in) {
  const index_t dim = in.at("d");
  const auto dots = in.at("qk").get<std::vector<double>>();
  question asked{.q = tensor<double, 4>({1, 1, 1, dim}),
                 .k = tensor<double, 4>({1, 1, static_cast<index_t>(dots.size()), dim}),
                 .v = column(dots),
                 .scale = in.at("scale"),
                 .bias = key_row(in.at("bias"))};
  asked.q(0, 0, 0, 0) = 1.0;
  for (index_t j = 0; j < asked.k.extent(2); ++j) asked.k(0, 0, j, 0) = dots[static_cast<std::size_t>(j)];
  return {{"weights", nested(answer(asked).probabilities)[0][0][0]}};
}

json attention_weights_softcap(const json& in) {
  const auto scores = column(in.at("scaled_scores").get<std::vector<double>>());
  const auto weights = [&](const json& part) {
    const auto allowed = key_row(part.at("visible"));
    const auto bias = part.contains("bias") ? key_row(part.at("bias")) : tensor<double, 4>({1, 1, 1, 1});
    const attention model{
        heads{}, scale::none{},
        scale::softcap({.cap = in.at("cap").get<double>(), .place = scale::softcap_place::before_bias}),
        bias::pair<double>(bias.view()), showing(allowed)};
    const auto call = call_at({0}, counting(0, scores.extent(2)));
    return nested(run(model, call, column({1.0}), scores, scores).probabilities)[0][0][0];
  };
  return {{"part_a_weights", weights(in.at("part_a"))}, {"part_b_weights", weights(in.at("part_b"))}};
}

// Packed and padded batches.

/// Calls use(visibility...) with what isolates sequences and, if asked, hides the future.
template <class Use>
json isolated(const json& in, const Use& use) {
  return in.at("causal").get<bool>() ? use(visible::segments{}, visible::causal{}) : use(visible::segments{});
}

json attention_segments(const json& in) {
  const auto q = read_tensor(in.at("q"));
  const heads layout{.query = q.extent(1), .key_value = q.extent(1), .dim = q.extent(3)};
  const auto call = call::packed_batch(
      {.lengths = lengths_between(in.at("cu_seqlens")), .positions = call::packed_positions::restart});
  return isolated(in, [&](const auto&... visibility) -> json {
    const attention model{layout, scale::constant(in.at("scale")), visibility...};
    const auto result = run(model, call, q, read_tensor(in.at("k")), read_tensor(in.at("v")));
    return {{"out", nested(result.output)}, {"lse", nested(result.log_sum_exp)}};
  });
}

std::vector<double> flat(const tensor<double, 4>& values) { return {values.values().begin(), values.values().end()}; }

json packed_attention(const json& in) {
  expect(in, "content_scores", "all zero");
  const auto lengths = in.at("lengths").get<std::vector<index_t>>();
  const auto call = call::packed_batch({.lengths = lengths, .positions = call::packed_positions::restart});
  return isolated(in, [&](const auto&... visibility) -> json {
    const attention model{heads{}, scale::none{}, visibility...};
    return {{"output", flat(run_without_content(model, call, in.at("values").get<std::vector<double>>()).output)}};
  });
}

json attention_causal_and_padding(const json& in) {
  expect(in, "causal", true);
  expect(in, "content_scores", "all zero");
  const auto call = masked_call(json::array({in.at("key_real")}), call::padded_positions::contiguous());
  const attention model{heads{}, scale::none{}, visible::active{}, visible::causal{}};
  const auto result = run_without_content(model, call, in.at("values").get<std::vector<double>>());
  json empty = json::array();
  for (index_t i = 0; i < call.queries(); ++i) {
    if (result.log_sum_exp(0, 0, i) == -std::numeric_limits<double>::infinity()) empty.push_back(i);
  }
  return {{"output", flat(result.output)}, {"empty_rows", empty}};
}

}  // namespace

operations attention_operations() {
  return {{"attention", attention_op},
          {"attention_shape", attention_shape},
          {"attention_sparse", attention_sparse},
          {"attention_rule", attention_rule},
          {"attention_row", attention_row},
          {"additive_mask_build", additive_mask_build},
          {"attention_weights_bias_scale", attention_weights_bias_scale},
          {"attention_weights_softcap", attention_weights_softcap},
          {"attention_segments", attention_segments},
          {"packed_attention", packed_attention},
          {"attention_causal_and_padding", attention_causal_and_padding}};
}

}  // namespace posgeo::cases
