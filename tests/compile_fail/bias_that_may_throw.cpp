// SPDX-License-Identifier: MIT
#include <posgeo/model/attention.hpp>
#include <posgeo/scale/none.hpp>
#include <posgeo/visible/everything.hpp>

#ifdef POSGEO_SHOULD_FAIL
constexpr bool never_throws = false;
#else
constexpr bool never_throws = true;
#endif

struct level {
  using family = posgeo::family::score_bias;
  template <class T>
  struct term {
    T operator()(posgeo::batch_index, posgeo::head_index, posgeo::query_index, posgeo::key_index) const
        noexcept(never_throws) {
      return T{1};
    }
  };
  template <class T>
  term<T> compile(const posgeo::position_call&, const posgeo::heads&) const {
    return {};
  }
};

const posgeo::attention model{posgeo::heads{}, posgeo::scale::none{}, posgeo::visible::everything{}, level{}};
