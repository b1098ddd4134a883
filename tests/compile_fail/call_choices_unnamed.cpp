// SPDX-License-Identifier: MIT
#include <posgeo/call/coupled_positions.hpp>
#include <posgeo/call/randomised_positions.hpp>
#include <posgeo/call/template_offset.hpp>

using namespace posgeo::call;

#ifdef POSGEO_SHOULD_FAIL
const random_order_spec no_seed{.rows = 4, .max_position = 16};
const template_rows no_wanted{.bos_from_tokenizer = 1, .bos_from_template = 0, .markup = 6};
const template_rows no_tokenizer{.bos_wanted = 1, .bos_from_template = 0, .markup = 6};
const template_rows no_template{.bos_wanted = 1, .bos_from_tokenizer = 1, .markup = 6};
const template_rows no_markup{.bos_wanted = 1, .bos_from_tokenizer = 1, .bos_from_template = 0};
const number_rows no_digit_order{.begin = 0, .end = 3};
const coupled_positions_spec no_first{.rows = 4};
#else
const random_order_spec drawn{.rows = 4, .max_position = 16, .seed = 7};
const template_rows prompt{.bos_wanted = 1, .bos_from_tokenizer = 1, .bos_from_template = 0, .markup = 6};
const number_rows number{.begin = 0, .end = 3, .order = digit_order::most_significant_first};
const coupled_positions_spec coupled{.rows = 4, .first = 0};
#endif
