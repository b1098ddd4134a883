// SPDX-License-Identifier: MIT
#pragma once

#include "compare.hpp"

namespace tour {

/// 0 for an exact zero, three places where they say something, else the power of ten.
[[nodiscard]] inline std::string number(double value) {
  if (value == 0.0) return "0";
  return std::abs(value) < 5e-4 ? fmt::format("{:.0e}", value) : fmt::format("{:.3f}", value);
}

inline void print_heading(std::string_view title, std::string_view explanation) {
  fmt::print("\n{}\n{}\n\n", title, explanation);
}

inline void print_orders(const two_orders& text) {
  fmt::print("posgeo tour: what tells a Transformer the order of its words?\n\n");
  for (const std::string& note : text.notes) fmt::print("  {}\n", note);
  if (!text.notes.empty()) fmt::print("\n");
  fmt::print("  order A   {}<end>\n", one_line(text.first));
  if (text.differ()) fmt::print("  order B   {}<end>\n", one_line(text.second()));
  fmt::print(
      "\n  Each word is a vector made from its letters, so equal words are equal vectors. <end> stands last\n"
      "  and reads all the words before it. Two heads, random weights, nothing trained: compare zero with\n"
      "  non-zero, not sizes; what is below {:.0e} is rounding.\n",
      rounding);
}

/// Where each mechanism enters: the first word that moved, in both orders, stage by stage.
inline void print_moved_word(const std::vector<mechanism>& mechanisms, const two_orders& text) {
  index_t here = 0;
  while (source_row(text.order, here) == here) ++here;
  const index_t there =
      std::find(text.order.begin(), text.order.end(), static_cast<std::size_t>(here)) - text.order.begin();
  print_heading(fmt::format("The first word that moved: '{}' stands at {} in A and at {} in B",
                            printable(text.first[static_cast<std::size_t>(here)]), here, there),
                "   state, query/key: largest change of an element in its state, and in its query or key.\n"
                "   score: change of the score that <end> gives it, largest over heads.\n"
                "   keys in sight: how many keys it sees.\n"
                "   The first column with a change is where the mechanism enters.");
  fmt::print("{:20}{:>10}{:>12}{:>14}{:>18}\n", "", "state", "query/key", "score", "keys in sight");
  const scene a = embed(text.first);
  const scene b = reordered(a, text.order);
  for (const mechanism& m : mechanisms) {
    const layer_run one = run(m, a, 1).front();
    const layer_run other = run(m, b, 1).front();
    double score = 0.0;
    for (index_t h = 0; h < layout.query; ++h) {
      const double change = one.scores(0, h, a.end_mark(), here) - other.scores(0, h, b.end_mark(), there);
      keep_larger(score, std::abs(change));
    }
    const double turned =
        std::max(row_difference(one.query, here, other.query, there), row_difference(one.key, here, other.key, there));
    const index_t before = one.visible_keys[static_cast<std::size_t>(here)];
    const index_t after = other.visible_keys[static_cast<std::size_t>(there)];
    fmt::print("{:20}{:>10}{:>12}{:>14}{:>18}\n", m.name, number(row_difference(one.input, here, other.input, there)),
               number(turned), number(score),
               before == after ? fmt::format("{}", before) : fmt::format("{} -> {}", before, after));
  }
}

/// Whether the outputs give the orders away, word by word and at the end mark.
inline void print_verdicts(const std::vector<mechanism>& mechanisms, const two_orders& text) {
  print_heading("Can the two orders be told apart?",
                "   Largest change of an element of the outputs from A to B, every word compared with itself.");
  fmt::print("{:20}{:>10}{:>12}{:>14}   {}\n", "", "words", "<end>", "<end>", "told apart");
  fmt::print("{:20}{:>10}{:>12}{:>14}\n", "", "1 layer", "1 layer", "2 layers");
  const scene a = embed(text.first);
  const scene b = reordered(a, text.order);
  for (const mechanism& m : mechanisms) {
    const auto one = run(m, a, 2);
    const auto other = run(m, b, 2);
    const double at_words = word_difference(one[0].output, other[0].output, text.order);
    const double at_end = row_difference(one[0].output, a.end_mark(), other[0].output, b.end_mark());
    const double deep = row_difference(one[1].output, a.end_mark(), other[1].output, b.end_mark());
    const bool shallow = at_end > rounding;
    const std::string_view verdict = shallow ? "yes" : deep > rounding ? "words yes, <end> only with depth" : "no";
    fmt::print("{:20}{:>10}{:>12}{:>14}   {}\n", m.name, number(at_words), number(at_end), number(deep), verdict);
  }
  fmt::print(
      "\n   A causal mask is no encoding, yet words that saw different prefixes leave a layer as different\n"
      "   states. <end> sees every word: in one layer they are a set, in the next one they are not.\n");
}

/// The attention of the end mark under four interventions; two, where the words have only one order.
inline void print_interventions(const std::vector<mechanism>& mechanisms, const two_orders& text) {
  print_heading(
      "Interventions on order A: how far the attention of <end> moves",
      fmt::format("   L1 change of its weights, at most 2, largest over heads; each word is compared with itself.\n"
                  "   shift: everything {} later.  gap: <end> alone {} later.{}",
                  shift, gap, text.differ() ? "\n   permute: the first word goes last.  reverse: last to first." : ""));
  fmt::print("{:20}{:>10}{:>12}", "", "shift", "gap");
  if (text.differ()) fmt::print("{:>14}{:>12}", "permute", "reverse");
  fmt::print("\n");
  const scene base = embed(text.first);
  const word_order same = in_place(text.first.size());
  std::string explanations;
  for (const mechanism& m : mechanisms) {
    const std::size_t layers = text.differ() ? m.explanations.size() : 1;
    for (std::size_t depth = 1; depth <= layers; ++depth) {
      const layer_run before = run(m, base, depth).back();
      const auto change = [&](const scene& s, const word_order& order) {
        return number(weight_change(before, run(m, s, depth).back(), order));
      };
      const std::string name = depth == 1 ? m.name : fmt::format("  its layer {}", depth);
      fmt::print("{:20}{:>10}{:>12}", name, change(shifted(base, shift), same), change(with_gap(base, gap), same));
      if (text.differ()) {
        const word_order permuted = rotated(text.first);
        const word_order backwards = reversed(text.first);
        fmt::print("{:>14}{:>12}", change(reordered(base, permuted), permuted),
                   change(reordered(base, backwards), backwards));
      }
      fmt::print("\n");
      explanations += fmt::format("   {:18}{}\n", name, m.explanations[depth - 1]);
    }
  }
  fmt::print("\n{}", explanations);
}

}  // namespace tour
