// SPDX-License-Identifier: Apache-2.0
// Who is at the other end of a unix socket, as the kernel says.
#pragma once

#include <sys/types.h>

#include "base/result.h"

namespace flowcon::ctrl::api {

/// The user that opened the connection. Errors: the kernel does not say; EACCES it is neither root,
/// nor this process's own user, nor in `group`, whatever the socket's mode has become.
[[nodiscard]] Result<uid_t> check_peer(int socket, gid_t group);

}  // namespace flowcon::ctrl::api
