// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/visible/window.hpp>

namespace posgeo::visible {

/// Whose mask. The two releases differ by one key, and there is no default.
enum class same_length_rule {
  pytorch_release,     ///< distances 0 to mem_len - 1
  tensorflow_release,  ///< distances 0 to mem_len, as in XLNet; mem_len is what is stored
};

/// Transformer-XL's same_length: every query sees as many keys, once that many are there. The PyTorch mask's other ends
/// (a short memory, a short segment) are the same rule. The TensorFlow mask goes by the rows that are stored: those of
/// a full memory, or fewer while it fills.
/// Units:  tokens.
/// Throws: errc::window_bounds for mem_len less than 1.
/// Source: Dai et al. 2019, releases: MemTransformerLM._forward and _create_mask with same_length; XLNet's create_mask.
[[nodiscard]] inline window same_length(index_t mem_len, same_length_rule rule) {
  require(mem_len >= 1, errc::window_bounds, "same_length", "mem_len", "at least 1", mem_len);
  return {.behind = rule == same_length_rule::pytorch_release ? mem_len - 1 : mem_len, .ahead = 0};
}

}  // namespace posgeo::visible
