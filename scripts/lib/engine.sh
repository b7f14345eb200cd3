# SPDX-License-Identifier: Apache-2.0
#
# A private Docker engine for the quickstart, the integration tests and the benches: own containerd,
# data, socket and cgroup parent, no bridge, no firewall rules, so that it neither touches nor needs
# the machine's own engine. It leaves nothing behind: engine_start registers engine_stop for the end
# of the script, and what a script killed with -9 left is swept by the next engine_start.
#
#   engine_start DIR [DATA]   start one; its socket is DIR/docker.sock, its images live in DATA
#                             (default DIR/data), its logs are DIR/*.log
#   engine_data [no]          sets ENGINE_DATA, a DATA that has its images the next time too; with
#                             "no", or while another script has that one, a folder that goes at the end
#   engine_stop DIR           end its containers, itself, its mounts and cgroups; DATA stays
#   engine_remove DIR         the same, then delete DIR
#   engine_find DIR [DATA]    the machine's engine where one answers, else a private one
#   engine_sweep              end private engines whose script is gone
#
# engine_start and engine_find set ENGINE_SOCKET (a path), ENGINE_PRIVATE (yes or no) and
# ENGINE_CGROUP (the parent of its containers, "/flowcon-…", empty for the machine's engine).
# shellcheck shell=bash
# shellcheck disable=SC2034 # the results are variables of the caller

# shellcheck source-path=SCRIPTDIR source=common.sh
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

ENGINE_REGISTRY=/run/flowcon-engines
ENGINE_SOCKET=
ENGINE_PRIVATE=
ENGINE_CGROUP=

# --- state --------------------------------------------------------------------------------------

# One "key=value" a line in DIR/engine.state; read as text, never sourced.
engine_note() { printf '%s=%s\n' "$2" "$3" >>"$1/engine.state"; }
engine_recall() { sed -n "s/^$2=//p" "$1/engine.state" 2>/dev/null | tail -n 1; }

engine_log_tail() {
  warn "the last lines of $1:"
  tail -n 15 "$1" 2>/dev/null | sed 's/^/    /' >&2
}

# The lock is held on descriptor 9 until the script ends.
engine_data() {
  mkdir -p "$FLOWCON_CACHE" || return 1
  exec 9>"$FLOWCON_CACHE/engine.lock"
  if [ "${1:-yes}" = yes ] && flock -n 9; then
    ENGINE_DATA=$FLOWCON_CACHE/engine
  else
    ENGINE_DATA=$FLOWCON_CACHE/engine-$(process_token $$)
    at_exit rm -rf "$ENGINE_DATA"
  fi
}

# --- starting -----------------------------------------------------------------------------------

engine_start() {
  local dir=$1 data tool cgroup
  [ "$(id -u)" = 0 ] || { warn "a private Docker engine needs root"; return 1; }
  for tool in dockerd containerd docker runc; do
    have "$tool" || { warn "$tool is not installed; run scripts/setup run"; return 1; }
  done
  mkdir -p "$dir" && dir=$(cd "$dir" && pwd -P) || return 1
  # sun_path ends at 107 characters, and containerd's socket is the longest here.
  [ ${#dir} -le 70 ] || { warn "the path $dir is too long for a socket in it"; return 1; }
  engine_sweep
  if process_alive "$(engine_recall "$dir" owner)"; then
    warn "the engine in $dir is in use by process $(engine_recall "$dir" owner | cut -d: -f1)"
    return 1
  fi
  engine_stop "$dir" || return 1

  data=${2:-$dir/data}
  mkdir -p "$data" "$dir/exec/containerd" && data=$(cd "$data" && pwd -P) || return 1
  cgroup=/flowcon-$$-$(date +%s%N | tail -c 8)
  : >"$dir/engine.state"
  engine_note "$dir" owner "$(process_token $$)"
  engine_note "$dir" cgroup "$cgroup"
  engine_note "$dir" data "$data"
  mkdir -p "$ENGINE_REGISTRY" && printf '%s\n' "$dir" >"$ENGINE_REGISTRY/${cgroup#/}"
  at_exit engine_stop "$dir"

  if ! engine_start_containerd "$dir" "$data" || ! engine_start_dockerd "$dir" "$data" "$cgroup"; then
    engine_stop "$dir"
    return 1
  fi
  ENGINE_SOCKET=$dir/docker.sock
  ENGINE_PRIVATE=yes
  ENGINE_CGROUP=$cgroup
}

# Its own containerd, started here and not by dockerd: dockerd would take the machine's if there is
# one, and with it the containers of the machine's engine.
engine_start_containerd() {
  local dir=$1 data=$2 socket=$1/exec/containerd/containerd.sock i
  cat >"$dir/containerd.toml" <<TOML
version = 2
root = "$data/containerd"
state = "$dir/exec/containerd/state"
disabled_plugins = ["io.containerd.grpc.v1.cri"]
[grpc]
  address = "$socket"
TOML
  # A lock that the script holds on 9 is not the engine's.
  setsid containerd --config "$dir/containerd.toml" >"$dir/containerd.log" 2>&1 </dev/null 9>&- &
  engine_note "$dir" containerd "$(process_token $!)"
  for ((i = 0; i < 300; i++)); do
    [ ! -S "$socket" ] || return 0
    process_alive "$(engine_recall "$dir" containerd)" || break
    sleep 0.05
  done
  warn "containerd did not start"
  engine_log_tail "$dir/containerd.log"
  return 1
}

engine_start_dockerd() {
  local dir=$1 data=$2 cgroup=$3 i
  # An own configuration file: the machine's could contradict the options here.
  printf '{}\n' >"$dir/daemon.json"
  setsid dockerd --config-file "$dir/daemon.json" --host "unix://$dir/docker.sock" \
    --data-root "$data" --exec-root "$dir/exec" --pidfile "$dir/docker.pid" \
    --containerd "$dir/exec/containerd/containerd.sock" \
    --exec-opt native.cgroupdriver=cgroupfs --cgroup-parent "$cgroup" \
    --bridge none --iptables=false --ip6tables=false --ip-forward=false \
    >"$dir/dockerd.log" 2>&1 </dev/null 9>&- &
  engine_note "$dir" dockerd "$(process_token $!)"
  for ((i = 0; i < 600; i++)); do
    if [ -S "$dir/docker.sock" ] && engine_docker "$dir/docker.sock" version >/dev/null 2>&1; then
      return 0
    fi
    process_alive "$(engine_recall "$dir" dockerd)" || break
    sleep 0.05
  done
  warn "dockerd did not start"
  engine_log_tail "$dir/dockerd.log"
  return 1
}

# engine_docker SOCKET ARGS...: docker's own client on that socket, whatever the environment says.
engine_docker() {
  local socket=$1
  shift
  DOCKER_HOST=unix://$socket DOCKER_CONTEXT='' docker "$@"
}

# --- ending -------------------------------------------------------------------------------------

engine_stop() {
  local dir cgroup data left=0
  dir=$(cd "$1" 2>/dev/null && pwd -P) || return 0
  [ -e "$dir/engine.state" ] || return 0
  cgroup=$(engine_recall "$dir" cgroup)
  data=$(engine_recall "$dir" data)
  engine_end_containers "$dir"
  process_end "$(engine_recall "$dir" dockerd)" 15 || left=1
  process_end "$(engine_recall "$dir" containerd)" 5 || left=1
  engine_kill_rest "$dir" "$cgroup"
  engine_remove_shim_sockets "$dir"
  engine_unmount_below "$dir" || left=1
  [ -z "$data" ] || engine_unmount_below "$data" || left=1
  engine_remove_cgroup "$cgroup" || left=1
  [ "$left" = 0 ] || { warn "the engine in $dir left something behind; try again, or read $dir/*.log"; return 1; }
  rm -rf "$dir/exec" "$dir/docker.sock" "$dir/docker.pid" "$dir/daemon.json" \
    "$dir/containerd.toml" "$dir/engine.state"
  [ -z "$cgroup" ] || rm -f "$ENGINE_REGISTRY/${cgroup#/}"
  rmdir "$ENGINE_REGISTRY" 2>/dev/null || :
}

engine_remove() {
  engine_stop "$1" && rm -rf "$1"
}

engine_end_containers() {
  local ids
  process_alive "$(engine_recall "$1" dockerd)" && [ -S "$1/docker.sock" ] || return 0
  ids=$(DOCKER_HOST=unix://$1/docker.sock DOCKER_CONTEXT='' timeout 15 docker ps -aq 2>/dev/null) ||
    return 0
  # shellcheck disable=SC2086 # one word per container
  [ -z "$ids" ] || DOCKER_HOST=unix://$1/docker.sock DOCKER_CONTEXT='' \
    timeout 60 docker rm -f -v $ids >/dev/null 2>&1 || :
}

# What an engine that was itself killed leaves: its containers' processes (in the cgroup that is
# ours alone) and its shims (they name our containerd's socket). Everything by process id.
engine_kill_rest() {
  local dir=$1 cgroup=$2 round pids
  for ((round = 0; round < 100; round++)); do
    pids="$(engine_shims "$dir") $(engine_cgroup_pids "$cgroup")"
    # shellcheck disable=SC2086 # one word per process
    set -- $pids
    [ $# -gt 0 ] || return 0
    kill -KILL "$@" 2>/dev/null || :
    sleep 0.05
  done
}

engine_shims() {
  local file pid
  for file in /proc/[0-9]*/cmdline; do
    pid=${file#/proc/}
    pid=${pid%/cmdline}
    # An argument that ends in a newline cannot be ours, so lines do for arguments.
    if grep -szqxF -- "$1/exec/containerd/containerd.sock" "$file" &&
      grep -qE '^(containerd|dockerd)' "/proc/$pid/comm" 2>/dev/null; then
      process_start "$pid" >/dev/null && printf '%s\n' "$pid"
    fi
  done
  return 0
}

# engine_cgroup_dirs NAME: where that cgroup is in each mounted hierarchy.
engine_cgroup_dirs() {
  local point
  case $1 in /flowcon-*) ;; *) return 0 ;; esac
  awk '$3 ~ /^cgroup2?$/ {print $2}' /proc/self/mounts | while read -r point; do
    [ ! -d "$point$1" ] || printf '%s\n' "$point$1"
  done
}

engine_cgroup_pids() {
  local dir
  engine_cgroup_dirs "$1" | while read -r dir; do
    find "$dir" -name cgroup.procs -exec cat {} + 2>/dev/null || :
  done | sort -un
}

engine_remove_cgroup() {
  local dir i
  # Of a busy machine processes that were killed end late.
  for ((i = 0; i < 1200; i++)); do
    engine_cgroup_dirs "$1" | while read -r dir; do
      find "$dir" -depth -type d -exec rmdir {} + 2>/dev/null || :
    done
    [ -n "$(engine_cgroup_dirs "$1")" ] || return 0
    sleep 0.05
  done
  return 1
}

# A shim listens in /run/containerd/s and removes its socket only where it ends by itself.
engine_remove_shim_sockets() {
  local file socket
  find "$1/exec" -name address -type f 2>/dev/null | while read -r file; do
    socket=$(cat "$file" 2>/dev/null) || continue
    case $socket in unix:///run/containerd/s/*) rm -f "${socket#unix://}" ;; esac
  done
}

engine_unmount_below() {
  local dir=$1 point i
  for ((i = 0; i < 20; i++)); do
    engine_mounts_below "$dir" | while read -r point; do
      umount "$point" 2>/dev/null || [ "$i" -lt 10 ] || umount -l "$point" 2>/dev/null || :
    done
    [ -n "$(engine_mounts_below "$dir")" ] || return 0
    sleep 0.1
  done
  return 1
}

# engine_mounts_below DIR: mount points at or below DIR, the deepest first.
engine_mounts_below() {
  awk -v dir="$1/" '{gsub(/\\040/, " ", $5)} $5 "/" == dir || index($5, dir) == 1 {print length($5), $5}' \
    /proc/self/mountinfo | sort -rn | cut -d' ' -f2-
}

engine_sweep() {
  local file dir
  for file in "$ENGINE_REGISTRY"/flowcon-*; do
    [ -f "$file" ] || continue
    dir=$(cat "$file") || continue
    process_alive "$(engine_recall "$dir" owner)" && continue
    [ ! -e "$dir/engine.state" ] || warn "cleaning up the engine that an interrupted run left in $dir"
    engine_stop "$dir" && rm -f "$file"
  done
  return 0
}

# --- choosing -----------------------------------------------------------------------------------

# The machine's engine answers on DOCKER_HOST, or where none is set on the usual socket. Only a unix
# socket will do: limits are written on this machine.
engine_host() { printf '%s' "${DOCKER_HOST:-unix:///var/run/docker.sock}"; }

engine_find() {
  local host
  host=$(engine_host)
  case $host in
    unix://*)
      if have docker && timeout 10 docker --host "$host" version >/dev/null 2>&1; then
        ENGINE_SOCKET=${host#unix://}
        ENGINE_PRIVATE=no
        ENGINE_CGROUP=
        return 0
      fi
      ;;
    *) warn "DOCKER_HOST=$host is not an engine on this machine; starting a private one" ;;
  esac
  engine_start "$@"
}
