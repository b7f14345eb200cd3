# SPDX-License-Identifier: Apache-2.0
#
# Root file systems from Debian's packages, put together by mmdebstrap: the training image, the test
# hosts, the roots in which the project is built for another release.
#
#   debian_root OUT SUITE PACKAGES [OPTION...]
#       makes OUT, a folder or a FILE.tar.zst, unless it is there; PACKAGES are separated by commas,
#       OPTION is mmdebstrap's. Only what is complete gets the name OUT.
#
# FLOWCON_MIRROR names a Debian mirror; without it the machine's own is used.
# shellcheck shell=bash

# shellcheck source-path=SCRIPTDIR source=common.sh
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

# hash_of WORD...: a short name for a recipe.
hash_of() { printf '%s\n' "$@" | sha256sum | cut -c1-12; }

debian_root() {
  local out=$1 suite=$2 packages=$3 part=$1.$$.part log=$FLOWCON_CACHE/mmdebstrap-$2-$$.log
  local started=$SECONDS tool line mirror options=()
  shift 3
  [ ! -e "$out" ] || return 0
  for tool in mmdebstrap zstd; do
    have "$tool" || { warn "$tool is not installed; run scripts/setup run"; return 1; }
  done
  mkdir -p "$FLOWCON_CACHE" || return 1
  mirror=$(debian_mirror "$suite")
  while read -r line; do options+=(--aptopt="$line"); done < <(debian_proxy)
  at_exit rm -rf --one-file-system "$part" "$log"
  # A tar goes down the pipe, the stages past it.
  if ! {
    case $out in
      *.tar.zst)
        debian_mmdebstrap --format=tar "${options[@]}" "$@" "$suite" - ${mirror:+"$mirror"} \
          2> >(tee "$log" | debian_progress "$started" >&3) | zstd -q -3 -T0 -f -o "$part"
        ;;
      *)
        debian_mmdebstrap --format=directory "${options[@]}" "$@" "$suite" "$part" \
          ${mirror:+"$mirror"} 2> >(tee "$log" | debian_progress "$started" >&3)
        ;;
    esac
  } 3>&1; then
    rm -rf --one-file-system "$part"
    warn "mmdebstrap could not make $out; its last lines:"
    tail -n 15 "$log" | sed 's/^/    /' >&2
    return 1
  fi
  # Another run may have been faster; what it made is as good.
  mv -T "$part" "$out" 2>/dev/null || [ -d "$out" ] || { warn "cannot rename $part to $out"; return 1; }
  rm -rf --one-file-system "$part" "$log"
}

debian_mmdebstrap() {
  mmdebstrap --mode="$([ "$(id -u)" = 0 ] && printf root || printf auto)" --variant=minbase \
    --include="$packages" --aptopt='APT::Install-Recommends "false"' "$@"
}

# mmdebstrap's own stages, each with the second it began at.
debian_progress() {
  local line
  while read -r line; do
    case $line in
      'I: running apt-get update'* | 'I: downloading'* | 'I: extracting'* | 'I: installing'* | 'I: creating'*)
        printf '  %4d s  %s\n' "$(seconds_since "$1")" "${line#I: }"
        ;;
    esac
  done
}

# A mirror other than Debian's own that this machine's apt takes the suite from; where there is
# none mmdebstrap takes Debian's own, with the security updates.
debian_mirror() {
  if [ -n "${FLOWCON_MIRROR:-}" ]; then
    printf '%s' "$FLOWCON_MIRROR"
  elif have apt-get; then
    # shellcheck disable=SC2016 # apt-get's own variable
    apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' "Codename: $1" \
      'Component: main' 2>/dev/null | grep -E '^https?:' | grep -v '//deb\.debian\.org/' | head -n 1 || :
  fi
}

debian_proxy() { apt-config dump 2>/dev/null | grep -iE '^Acquire::https?::(Proxy|Verify)' || :; }
