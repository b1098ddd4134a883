// SPDX-License-Identifier: MIT
#include <posgeo/core/tensor.hpp>

posgeo::tensor<float, 3> made();

float first() {
#ifdef POSGEO_SHOULD_FAIL
  return made().values()[0];
#else
  const auto kept = made();
  return kept.values()[0];
#endif
}
