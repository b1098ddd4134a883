// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/model/attention.hpp>
#include <posgeo/scale/none.hpp>
#include <posgeo/transform/rotary.hpp>
#include <posgeo/visible/everything.hpp>

#include <numbers>

#include "report.hpp"

namespace tour {

/// A sentence about the numbers, the number, and whether it keeps to the sentence.
struct law {
  enum class outcome { holds, failed };
  std::string statement;
  double measured;
  outcome result;
};

[[nodiscard]] inline law stays(std::string statement, double change) {
  return {std::move(statement), change, change <= rounding ? law::outcome::holds : law::outcome::failed};
}
[[nodiscard]] inline law reacts(std::string statement, double change) {
  return {std::move(statement), change, change >= real_change ? law::outcome::holds : law::outcome::failed};
}

/// One pair of dimensions, a quarter turn for each position.
struct quarter_turn {
  [[nodiscard]] index_t pairs() const noexcept { return 1; }
  [[nodiscard]] double at(index_t) const noexcept { return std::numbers::pi / 2; }
};

/// How far the scores of a query (1, 0) at 2 and two equal keys at 1 and 0 are from 0 and -1, `later` later.
[[nodiscard]] inline double quarter_turn_error(index_t later) {
  const posgeo::attention model{
      posgeo::heads{.query = 1, .key_value = 1, .dim = 2}, posgeo::scale::none{}, posgeo::visible::everything{},
      posgeo::transform::rotary{quarter_turn{}, {.pairs = posgeo::transform::pairing::adjacent}}};
  const std::vector<index_t> query_position{2 + later};
  const std::vector<index_t> key_positions{1 + later, later};
  const auto plan = model.compile<double>(posgeo::call::explicit_positions(
      {.query = {.positions = query_position, .rows = 1}, .key = {.positions = key_positions, .rows = 2}}));
  const std::vector<double> query{1, 0};
  const std::vector<double> keys{1, 0, 1, 0};
  const auto key_heads = posgeo::heads_first(keys.data(), 1, 1, 2, 2);
  const auto result =
      posgeo::attend(posgeo::eager{}, plan, {posgeo::heads_first(query.data(), 1, 1, 1, 2), key_heads, key_heads},
                     posgeo::also::scores);
  return std::abs(result.scores(0, 0, 0, 0)) + std::abs(result.scores(0, 0, 0, 1) + 1.0);
}

/// Largest difference between what the end mark gives the first word and its copy, which is the last word.
[[nodiscard]] inline double copies_apart(const mechanism& m, const words& text) {
  words doubled = text;
  doubled.push_back(text.front());
  const scene s = embed(doubled);
  const layer_run one = run(m, s, 1).front();
  double largest = 0.0;
  for (index_t h = 0; h < layout.query; ++h) {
    const double first = one.weights(0, h, s.end_mark(), 0);
    const double last = one.weights(0, h, s.end_mark(), s.end_mark() - 1);
    keep_larger(largest, std::abs(first - last));
  }
  return largest;
}

/// How far the scores of the words are from having lost slope x gap when the end mark moves away.
[[nodiscard]] inline double alibi_price_error(const layer_run& near, const layer_run& far,
                                              const std::vector<double>& slopes) {
  const index_t end_mark = near.scores.extent(3) - 1;
  double largest = 0.0;
  for (index_t h = 0; h < layout.query; ++h) {
    const double price = slopes[static_cast<std::size_t>(h)] * static_cast<double>(gap);
    for (index_t j = 0; j < end_mark; ++j) {
      const double paid = near.scores(0, h, end_mark, j) - far.scores(0, h, end_mark, j);
      keep_larger(largest, std::abs(paid - price));
    }
  }
  return largest;
}

[[nodiscard]] inline std::vector<law> check_laws(const cast& c, const two_orders& text) {
  std::vector<law> laws;
  const scene a = embed(text.first);
  const word_order same = in_place(text.first.size());
  const auto first_layer = [](const mechanism& m, const scene& s) { return run(m, s, 1).front(); };

  if (text.differ()) {
    const scene b = reordered(a, text.order);
    const auto nope_a = run(c.nope, a, 2);
    const auto nope_b = run(c.nope, b, 2);
    double strayed = 0.0;
    for (std::size_t n = 0; n < nope_a.size(); ++n) {
      keep_larger(strayed, word_difference(nope_a[n].output, nope_b[n].output, text.order));
      keep_larger(strayed, row_difference(nope_a[n].output, a.end_mark(), nope_b[n].output, b.end_mark()));
    }
    laws.push_back(stays("NoPE, unmasked: outputs follow their words into order B, two layers", strayed));

    const auto causal_a = run(c.nope_causal, a, 2);
    const auto causal_b = run(c.nope_causal, b, 2);
    const auto at_end = [&](std::size_t n) {
      return row_difference(causal_a[n].output, a.end_mark(), causal_b[n].output, b.end_mark());
    };
    laws.push_back(stays("NoPE, causal: <end> cannot tell A from B in one layer", at_end(0)));
    laws.push_back(reacts("NoPE, causal: <end> tells A from B in the second layer", at_end(1)));
  }
  laws.push_back(stays("NoPE, unmasked: a word and its copy get the same weight", copies_apart(c.nope, text.first)));
  for (const mechanism* m : {&c.alibi, &c.t5, &c.rotary}) {
    laws.push_back(stays(fmt::format("{}: a shift by {} changes no score and no log-sum-exp", m->name, shift),
                         score_change(first_layer(*m, a), first_layer(*m, shifted(a, shift)))));
  }
  for (const mechanism* m : {&c.sinusoidal, &c.learned}) {
    laws.push_back(reacts(fmt::format("{}: a shift by {} moves the attention", m->name, shift),
                          weight_change(first_layer(*m, a), first_layer(*m, shifted(a, shift)), same)));
  }
  for (const mechanism* m : {&c.alibi, &c.t5, &c.rotary}) {
    laws.push_back(reacts(fmt::format("{}: a gap of {} before <end> moves its attention", m->name, gap),
                          weight_change(first_layer(*m, a), first_layer(*m, with_gap(a, gap)), same)));
  }
  laws.push_back(
      stays(fmt::format("ALiBi: that gap costs every word exactly {} x slope", gap),
            alibi_price_error(first_layer(c.alibi, a), first_layer(c.alibi, with_gap(a, gap)), c.alibi_slopes)));
  laws.push_back(reacts("rotary: a word and its copy get different weights", copies_apart(c.rotary, text.first)));
  laws.push_back(stays("rotary: a quarter turn for each position scores equal keys 0 and -1", quarter_turn_error(0)));
  laws.push_back(stays("rotary: and still does 100 positions later", quarter_turn_error(100)));
  return laws;
}

/// Prints the laws; whether all hold.
[[nodiscard]] inline bool print_laws(const std::vector<law>& laws) {
  print_heading("Laws checked",
                fmt::format("   The same means within {:.0e}; a change is at least {:.0e}.", rounding, real_change));
  bool all_hold = true;
  for (const law& l : laws) {
    const bool holds = l.result == law::outcome::holds;
    fmt::print("   {:9}{:75}{:>10}\n", holds ? "ok" : "FAILED", l.statement, number(l.measured));
    all_hold = all_hold && holds;
  }
  return all_hold;
}

}  // namespace tour
