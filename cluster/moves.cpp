// SPDX-License-Identifier: Apache-2.0
#include "cluster/moves.h"

namespace flowcon::cluster {

const char* name(Cause cause) {
  switch (cause) {
    case Cause::person:
      return "person";
    case Cause::speculate:
      return "speculate";
    case Cause::rebalance:
      return "rebalance";
    case Cause::balance:
      return "balance";
    case Cause::drain:
      break;
  }
  return "drain";
}

}  // namespace flowcon::cluster
