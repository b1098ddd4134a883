// SPDX-License-Identifier: MIT
#pragma once

/// In which order an executor forms its sums. Either way one build gives a row the same bits in any batch, padding,
/// packing or place and with any number of threads.
namespace posgeo::order {

/// The order that is fastest for the call at hand: a cached decode step agrees with the full pass within rounding.
struct fastest {};

/// One order for all calls: a cached decode step equals the full pass bit for bit.
struct reproducible {};

}  // namespace posgeo::order
