// SPDX-License-Identifier: Apache-2.0
#include "base/result.h"

#include <cstdio>
#include <cstdlib>

namespace flowcon {

void throw_exception_from_error(const Error& error, const boost::source_location& where) {
  std::fprintf(stderr, "flowcon: value() of a failed Result at %s:%u: %s\n", where.file_name(),
               static_cast<unsigned>(where.line()), error.message().c_str());
  std::abort();
}

}  // namespace flowcon
