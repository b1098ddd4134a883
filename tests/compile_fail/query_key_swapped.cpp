// SPDX-License-Identifier: MIT
#include <posgeo/bias/alibi.hpp>

float first(const posgeo::bias::alibi::term<float>& term) {
  const posgeo::batch_index b{0};
  const posgeo::head_index h{0};
  const posgeo::query_index i{0};
  const posgeo::key_index j{0};
#ifdef POSGEO_SHOULD_FAIL
  return term(b, h, j, i);
#else
  return term(b, h, i, j);
#endif
}
