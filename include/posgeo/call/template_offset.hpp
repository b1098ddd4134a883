// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/core/error.hpp>
#include <posgeo/core/index.hpp>
#include <posgeo/core/required.hpp>

namespace posgeo::call {

/// The rows before the content of a prompt, by who puts them there.
struct template_rows {
  required<index_t> bos_wanted;          ///< begin-of-sequence rows that the checkpoint was trained with: 0 or 1
  required<index_t> bos_from_tokenizer;  ///< begin-of-sequence rows that the tokenizer adds
  required<index_t> bos_from_template;   ///< begin-of-sequence rows that the text of the template holds
  required<index_t> markup;              ///< the other template rows: roles, system prompt, separators
};

/// bos_wanted + markup, where the first content row stands: behind every row of the template. Give it to a call as its
/// first position.
/// Units:  tokens.
/// Throws: errc::position_rule for a bos_wanted that is neither 0 nor 1, a negative count, or another number of
///         begin-of-sequence rows than wanted.
/// Source: chat templates and tokenizers as released, which may each add a begin-of-sequence token.
[[nodiscard]] inline index_t template_offset(const template_rows& rows) {
  const auto require_count = [](index_t count, std::string_view axis) {
    require(count >= 0 && count <= position_limit, errc::position_rule, "template", axis,
            "at least 0 and less than 2^62", count);
  };
  require(rows.bos_wanted == 0 || rows.bos_wanted == 1, errc::position_rule, "template", "bos_wanted", "0 or 1",
          index_t{rows.bos_wanted});
  require_count(rows.bos_from_tokenizer, "bos_from_tokenizer");
  require_count(rows.bos_from_template, "bos_from_template");
  require_count(rows.markup, "markup");
  const index_t bos = saturating_add(rows.bos_from_tokenizer, rows.bos_from_template);
  require(bos == rows.bos_wanted, errc::position_rule, "template", "begin-of-sequence rows", index_t{rows.bos_wanted},
          text("{} ({} from the tokenizer, {} from the template)", bos, index_t{rows.bos_from_tokenizer},
               index_t{rows.bos_from_template}));
  return saturating_add(bos, rows.markup);
}

}  // namespace posgeo::call
