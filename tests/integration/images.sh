#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Images between two engines: only layers that are missing, no names, nothing but what was promised.
# usage: images.sh BINDIR
# shellcheck disable=SC2317 # functions are called by name
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

begin "$@"
MOVER=$BIN/image_mover
[ -x "$MOVER" ] || nothing_runs "image_mover is not built"
MOST=1000000000
SOURCE=$ENGINE_SOCKET SOURCE_CGROUP=$ENGINE_CGROUP
must_start_engine "$WORK/target"
TARGET=$ENGINE_SOCKET
ENGINE_SOCKET=$SOURCE ENGINE_CGROUP=$SOURCE_CGROUP

at() { DOCKER_HOST=unix://$1 docker "${@:2}"; }
id_of() { at "$1" image inspect -f '{{.Id}}' "$2"; }
images_of() { at "$1" image ls -aq --no-trunc | sort -u; }
tags_of() { at "$1" image ls --format '{{.Repository}}:{{.Tag}} {{.ID}}' --no-trunc | sort; }

# move NAME: from the source to the target, with what of it is there in THERE and the stream's file.
move() {
  local info
  info=$("$MOVER" info "$SOURCE" "$1") || return 1
  read -ra INFO <<<"$info"
  THERE=$("$MOVER" there "$TARGET" "${INFO[@]}") || return 1
  STREAM=$WORK/stream
  "$MOVER" save "$SOURCE" "$THERE" "${INFO[@]}" >"$STREAM" || return 1
  "$MOVER" load "$TARGET" "$THERE" "$MOST" "${INFO[@]}" <"$STREAM"
}
# moves SENTENCE NAME: a check in this shell, since move sets variables.
moves() {
  local status=0
  move "$2" >"$WORK/said" 2>&1 || status=$?
  result "$status" "$1" "$(cat "$WORK/said")"
}
names_in() { tar -tf "$1" | sort | tr '\n' ' '; }
files_of() { at "$1" run --rm --network none "$2" sh -c 'cat /one /two /three'; }
# load FILE
load() { "$MOVER" load "$TARGET" "$THERE" "${MOST_NOW:-$MOST}" "${INFO[@]}" <"$1"; }

# Three layers on the base, the second and the third with the same bytes.
build() {
  local folder=$WORK/build
  mkdir -p "$folder"
  printf 'one %s\n' "$1" >"$folder/one"
  printf 'two\n' >"$folder/two"
  printf 'three %s\n' "$1" >"$folder/three"
  touch -d 2020-01-01 "$folder"/*
  printf 'FROM %s\nCOPY one /one\nCOPY two /two\nCOPY two /two\nCOPY three /three\n' "$IMAGE" \
    >"$folder/Dockerfile"
  at "$SOURCE" build -q -t "$2" "$folder"
}

must build first first:1
must build second second:1
check "the test's image has equal layers" test "$("$MOVER" info "$SOURCE" first:1 | tr ' ' '\n' | sort | uniq -d | wc -l)" = 1

# --- an image that is not there ------------------------------------------------------------------

moves "an image that the target has nothing of goes over" first:1
check "nothing of it was there" is "$THERE" 0
check "equal layers were sent once" is "$(names_in "$STREAM")" "config.json layer-0.tar layer-1.tar layer-2.tar layer-3.tar "
check "it is there by its id" is "$(id_of "$TARGET" "${INFO[0]}")" "$(id_of "$SOURCE" first:1)"
check "it has no name there" is "$(tags_of "$TARGET")" "<none>:<none> ${INFO[0]}"
check "a container of it finds its files" is "$(files_of "$TARGET" "${INFO[0]}")" "$(files_of "$SOURCE" first:1)"
check "it is all there now" is "$("$MOVER" there "$TARGET" "${INFO[@]}")" 5

# --- one that begins like another ----------------------------------------------------------------

moves "an image that begins like one of the target goes over" second:1
check "its base was there" is "$THERE" 1
check "only what was missing was sent" is "$(names_in "$STREAM")" "config.json layer-0.tar layer-1.tar layer-2.tar "
check "it has its own files there" is "$(files_of "$TARGET" "${INFO[0]}")" "$(files_of "$SOURCE" second:1)"

# Equal layers, of which the first is there and the second is to be sent.
printf 'FROM %s\nCOPY one /one\nCOPY two /two\n' "$IMAGE" >"$WORK/build/Dockerfile"
printf 'one third\n' >"$WORK/build/one"
touch -d 2020-01-01 "$WORK/build/one"
must at "$SOURCE" build -q -t third:0 "$WORK/build"
printf 'FROM third:0\nCOPY two /two\nCOPY three /three\n' >"$WORK/build/Dockerfile"
must at "$SOURCE" build -q -t third:1 "$WORK/build"
moves "the beginning of an image goes over" third:0
moves "the rest of it goes over" third:1
check "what it builds on was there" is "$THERE" 3
check "a layer that equals one that is there is sent again" is "$(names_in "$STREAM")" "config.json layer-0.tar layer-1.tar "
check "it has its own files there too" is "$(files_of "$TARGET" "${INFO[0]}")" "$(files_of "$SOURCE" third:1)"

# --- back again ----------------------------------------------------------------------------------

survives() { "$MOVER" remove "$TARGET" "${INFO[0]}" && id_of "$TARGET" "${INFO[0]}"; }
must at "$TARGET" run -d --name user --network none "${INFO[0]}" sleep 600
check "a container keeps its image" survives
must at "$TARGET" rm -f user
must at "$TARGET" tag "${INFO[0]}" named:1
check "a name keeps its image" survives
must at "$TARGET" rmi named:1
moves "an image that was removed goes over again" third:1
check "an image that nobody uses is removed" "$MOVER" remove "$TARGET" "${INFO[0]}"
check "it is gone" not id_of "$TARGET" "${INFO[0]}"
check "removing one that is not there is no error" "$MOVER" remove "$TARGET" "${INFO[0]}"

# --- what is not accepted ------------------------------------------------------------------------

must at "$TARGET" tag "$("$MOVER" info "$SOURCE" first:1 | cut -d ' ' -f 1)" precious:1
must build fourth fourth:1
read -ra INFO < <("$MOVER" info "$SOURCE" fourth:1)
THERE=$("$MOVER" there "$TARGET" "${INFO[@]}")
"$MOVER" save "$SOURCE" "$THERE" "${INFO[@]}" >"$WORK/good"
BEFORE=$(images_of "$TARGET") TAGS=$(tags_of "$TARGET")
unchanged() { is "$(images_of "$TARGET")" "$BEFORE" && is "$(tags_of "$TARGET")" "$TAGS"; }
# refused SENTENCE WORDS: of the stream in the file "hostile".
refused() {
  check "$1" fails_with 1 "$2" load "$WORK/hostile"
  check "nothing of it is there ($1)" unchanged
}
# unpacked FOLDER: the good stream's files.
mkdir "$WORK/parts"
tar -C "$WORK/parts" -xf "$WORK/good"
# stream FILE...: as image_mover writes it.
stream() { tar -C "$WORK/parts" --format=gnu --owner=0 --group=0 -cf - "$@"; }

head -c $(($(stat -c %s "$WORK/good") / 2)) "$WORK/good" >"$WORK/hostile"
refused "a stream that is cut" "has not come whole"
printf '[{"Config":"config.json","RepoTags":["precious:1"],"Layers":[]}]' >"$WORK/parts/manifest.json"
stream config.json layer-0.tar layer-1.tar layer-2.tar manifest.json >"$WORK/hostile"
refused "a manifest of the peer's" "not expected"
stream layer-0.tar layer-1.tar layer-2.tar >"$WORK/hostile"
refused "no configuration" "has not come whole"
stream config.json layer-0.tar layer-1.tar >"$WORK/hostile"
refused "a layer less than promised" "has not come whole"
sed 's/sleep/sl33p/; s/"created"/"Created"/' "$WORK/parts/config.json" >"$WORK/parts/other"
mv "$WORK/parts/other" "$WORK/parts/config.json"
stream config.json layer-0.tar layer-1.tar layer-2.tar >"$WORK/hostile"
refused "another configuration" "not that of the image"
tar -C "$WORK/parts" -xf "$WORK/good"
gzip -nc <"$WORK/parts/layer-0.tar" >"$WORK/parts/packed"
mv "$WORK/parts/packed" "$WORK/parts/layer-0.tar"
stream config.json layer-0.tar layer-1.tar layer-2.tar >"$WORK/hostile"
refused "a packed layer" "is packed"
tar -C "$WORK/parts" -cf "$WORK/parts/layer-0.tar" config.json
stream config.json layer-0.tar layer-1.tar layer-2.tar >"$WORK/hostile"
refused "a layer that was not promised" "not promised"
ln -sf /etc/passwd "$WORK/parts/layer-0.tar"
stream config.json layer-0.tar layer-1.tar layer-2.tar >"$WORK/hostile"
refused "a link for a layer" "not expected"
cp "$WORK/good" "$WORK/hostile"
MOST_NOW=5000 refused "more than is accepted" "larger than this host accepts"
check "the good stream is still taken" load "$WORK/good"

must at "$SOURCE" rmi -f first:1 second:1 third:0 third:1 fourth:1
must engine_stop "$WORK/target"
finish
