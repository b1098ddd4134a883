// SPDX-License-Identifier: MIT
#include <posgeo/bias/alibi.hpp>
#include <posgeo/model/nope.hpp>
#include <posgeo/scale/none.hpp>
#include <posgeo/scale/softcap.hpp>
#include <posgeo/visible/active.hpp>
#include <posgeo/visible/all_of.hpp>
#include <posgeo/visible/any_of.hpp>
#include <posgeo/visible/causal.hpp>
#include <posgeo/visible/everything.hpp>
#include <posgeo/visible/segments.hpp>
#include <posgeo/visible/window.hpp>

#include "support/catch.hpp"
#include "support/refusal.hpp"
#include "support/toy_policies.hpp"

namespace {

using namespace posgeo;
using namespace posgeo::test;

template <class... Policies>
auto with(const Policies&... policies) {
  return attention{heads{.query = 2, .key_value = 1, .dim = 2}, scale::none{}, policies...};
}

template <class Model>
bool accepted(nope contract, const Model& model) {
  try {
    require_nope(contract, model);
    return true;
  } catch (const error& refused) {
    CHECK(refused.code() == errc::position_family);
    return false;
  }
}

TEST_CASE("unmasked NoPE has no positions and no mask that knows them", "[nope]") {
  CHECK(accepted(nope::unmasked, with(visible::everything{})));
  CHECK(accepted(nope::unmasked, with(visible::active{}, visible::segments{})));
  CHECK(accepted(nope::unmasked,
                 with(visible::everything{}, scale::softcap({.cap = 20, .place = scale::softcap_place::after_bias}))));
  CHECK_FALSE(accepted(nope::unmasked, with(visible::causal{})));
  CHECK_FALSE(accepted(nope::unmasked, with(visible::window{.behind = 3, .ahead = 3})));
  CHECK_FALSE(accepted(nope::unmasked, with(visible::all_of{visible::active{}, visible::causal{}})));
}

TEST_CASE("causal NoPE has no positions and hides the future", "[nope]") {
  CHECK(accepted(nope::causal, with(visible::causal{})));
  CHECK(accepted(nope::causal, with(visible::active{}, visible::causal{})));
  CHECK(accepted(nope::causal, with(visible::all_of{visible::segments{}, visible::causal{}})));
  CHECK_FALSE(accepted(nope::causal, with(visible::everything{})));
  CHECK_FALSE(accepted(nope::causal, with(visible::active{})));
  CHECK_FALSE(accepted(nope::causal, with(visible::any_of{visible::everything{}, visible::causal{}})));
  CHECK_FALSE(accepted(nope::causal, with(visible::window{.behind = 3, .ahead = 1})));
  CHECK_FALSE(accepted(nope::causal, with(visible::window{.behind = 3, .ahead = 0})));
  CHECK_FALSE(accepted(nope::causal, with(visible::causal{}, visible::window{.behind = 3, .ahead = 1})));
}

TEST_CASE("a positional policy of any family breaks the NoPE contract", "[nope]") {
  const bias::alibi biased(bias::alibi_slopes::reference(2), bias::alibi_direction::symmetric);
  const auto refused = [](const auto& policy) {
    return !accepted(nope::causal, with(visible::causal{}, policy)) &&
           !accepted(nope::unmasked, with(visible::everything{}, policy));
  };
  CHECK(refused(biased));
  CHECK(refused(toy_transform{}));
  CHECK(refused(toy_content{}));
  CHECK(refused(toy_value{}));
}

}  // namespace
