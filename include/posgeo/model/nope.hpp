// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/model/attention.hpp>

namespace posgeo {

/// No positional encoding is the absence of a policy; what is left is who may see whom.
enum class nope {
  unmasked,  ///< the task is a set: nothing depends on where a row stands
  causal,    ///< order comes from nested prefixes, and from depth; the causal visibility is part of the model
};

/// Holds an attention to the contract that a NoPE checkpoint was trained under: no positional term, and exactly the
/// visibility named. Removing the terms of a model trained with them, or swapping the mask, makes another model.
/// Throws: errc::position_family.
/// Source: Haviv et al. 2022; Irie 2024; Kazemnejad et al. 2023.
template <class... Policies>
void require_nope(nope contract, const attention<Policies...>& model) {
  constexpr int terms =
      detail::members<family::qk_transform, Policies...> + detail::members<family::content_term, Policies...> +
      detail::members<family::score_bias, Policies...> + detail::members<family::value_term, Policies...>;
  require(terms == 0, errc::position_family, "NoPE attention", "positional policies", 0, terms);
  const hides by_position = model.hidden() & (hides::future | hides::distant);
  if (contract == nope::causal) {
    require(by_position == hides::future, errc::position_family, "causal NoPE attention", "visibility",
            "one that hides the future and nothing nearer (visible::causal)", "another");
  } else {
    require(by_position == hides::nothing, errc::position_family, "unmasked NoPE attention", "visibility",
            "one that ignores positions", "one that hides keys by position");
  }
}

}  // namespace posgeo
