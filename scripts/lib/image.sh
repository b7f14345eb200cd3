# SPDX-License-Identifier: Apache-2.0
#
# The training image: Python, PyTorch and scikit-learn from Debian's packages, put together by
# mmdebstrap, no registry involved. Its tag is a hash of the recipe below, so a changed recipe is a
# new image. The packed root file system is kept in the cache; an engine that has the image already
# is asked nothing more.
#
#   image_ensure SOCKET       see to it that the engine has the image; its name is in IMAGE
#   image_pack                only see to it that the packed root is in the cache: IMAGE_TAR
# shellcheck shell=bash
# shellcheck disable=SC2034 # the results are variables of the caller

# shellcheck source-path=SCRIPTDIR source=debian.sh
. "$(dirname "${BASH_SOURCE[0]}")/debian.sh"

IMAGE_SUITE=bookworm
IMAGE_PACKAGES=python3-torch,python3-sklearn,python3-numpy
# What a training never opens: a third of the size and of the time to import it. The copyright files
# and /usr/share/common-licenses (the text that examples/char_gru.py learns) stay.
IMAGE_WITHOUT=(
  '/usr/share/doc/*' '/usr/share/man/*' '/usr/share/locale/*' '/usr/share/info/*'
  '/usr/include/*' '/usr/lib/*.a' '/usr/lib/gcc/*/cc1*' '/usr/lib/gcc/*/lto1' '/usr/bin/*lto-dump*'
  '/usr/lib/*/dri/*'
)
# By default threads that wait for each other spin. Where several trainings share the cores, that
# costs three times the CPU time of the work itself (GRU of examples/, 2 threads on 2 busy cores).
IMAGE_CHANGES=('ENV PYTHONDONTWRITEBYTECODE=1' 'ENV LANG=C.UTF-8' 'ENV OMP_WAIT_POLICY=passive'
  'ENV OPENBLAS_THREAD_TIMEOUT=4')

IMAGE_ROOT=("$IMAGE_SUITE" "$IMAGE_PACKAGES" "${IMAGE_WITHOUT[@]}")
IMAGE=flowcon-train:$(hash_of "${IMAGE_ROOT[@]}" "${IMAGE_CHANGES[@]}")
IMAGE_TAR=$FLOWCON_CACHE/flowcon-train-$(hash_of "${IMAGE_ROOT[@]}").tar.zst

image_ensure() {
  local started=$SECONDS changes=() change
  if DOCKER_HOST=unix://$1 docker image inspect "$IMAGE" >/dev/null 2>&1; then
    say "image $IMAGE: the engine has it"
    return 0
  fi
  image_pack || return 1
  for change in "${IMAGE_CHANGES[@]}"; do changes+=(--change "$change"); done
  say "image $IMAGE: importing"
  # What the cache holds may be cut short (a full disk, a power failure): then make it anew, once.
  if ! zstd -dcq "$IMAGE_TAR" | DOCKER_HOST=unix://$1 docker import "${changes[@]}" - "$IMAGE" >/dev/null; then
    rm -f "$IMAGE_TAR"
    warn "could not import $IMAGE_TAR (removed; the next run makes it anew). Is the disk full? df -h"
    return 1
  fi
  say "image $IMAGE: imported in $(seconds_since "$started") s"
}

image_pack() {
  local started=$SECONDS options=() path
  [ ! -s "$IMAGE_TAR" ] || return 0
  for path in "${IMAGE_WITHOUT[@]}"; do options+=(--dpkgopt="path-exclude=$path"); done
  options+=(--dpkgopt='path-include=/usr/share/doc/*/copyright')
  say "image $IMAGE: installing Debian's PyTorch and scikit-learn, about 450 MB to download"
  debian_root "$IMAGE_TAR" "$IMAGE_SUITE" "$IMAGE_PACKAGES" "${options[@]}" || return 1
  say "image $IMAGE: made in $(seconds_since "$started") s, kept as $IMAGE_TAR ($(du -h "$IMAGE_TAR" | cut -f1))"
}
