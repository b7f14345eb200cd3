# SPDX-License-Identifier: Apache-2.0
#
# The lab's network: a bridge in the lab's own network namespace, a link from it to each host, and
# what can go wrong with them. Sourced by tests/lab/lab.
# shellcheck shell=bash

NET=10.77.0
MTU_BURST=64kb

address() { printf '%s.%d' "$NET" $((10 + ${1#h})); }
lab_net() { nsenter --target "$(holder)" --net -- "$@"; }
host_net() { nsenter --target "$(host_pid "$1")" --net -- "${@:2}"; }

net_up() {
  lab_net ip link set lo up
  lab_net ip link add br0 type bridge
  lab_net ip address add "$NET.1/24" dev br0
  lab_net ip link set br0 up
  : >"$LAB/partitions"
  cat >"$LAB/ssh_config" <<TEXT
Host h* $NET.*
  User root
  IdentityFile $LAB/key
  UserKnownHostsFile $LAB/known_hosts
  StrictHostKeyChecking yes
  ConnectTimeout 5
  LogLevel ERROR
TEXT
  # ssh takes names from the resolver, and that is the machine's.
  local host
  for host in $(recall hosts); do printf 'Host %s\n  HostName %s\n' "$host" "$(address "$host")"; done >>"$LAB/ssh_config"
}

# net_plug HOST PID: a link; always the same hardware address, or neighbours would try the old one
# for a while after a reboot.
net_plug() {
  local host=$1 pid=$2 n=${1#h}
  lab_net ip link add "v$host" type veth peer name eth0 address "02:00:0a:4d:00:$(printf %02x $((10 + n)))" netns "$pid"
  nsenter --target "$pid" --net -- ip link set lo up
  nsenter --target "$pid" --net -- ip link set eth0 up
  lab_net ip link set "v$host" master br0
  lab_net ip link set "v$host" up
  nsenter --target "$pid" --net -- ip route add default via "$NET.1" onlink dev eth0
  # Last: the host waits for it.
  nsenter --target "$pid" --net -- ip address add "$(address "$host")/24" dev eth0
}

net_unplug() {
  net_undelay "$1"
  # The kernel takes the other end away with the host's namespace, a moment later.
  lab_net ip link delete "v$1" 2>/dev/null || :
}

# --- faults ---------------------------------------------------------------------------------------

net_partition() {
  need_running "${1:-}"
  local host=$1 from=''
  shift
  case ${1:-} in
    '') ;;
    --from) [ $# = 2 ] || usage_error "--from takes a host" && need_host "$2" && from=$2 ;;
    *) usage_error "unknown option '$1'" ;;
  esac
  if [ -z "$from" ]; then
    lab_net ip link set "v$host" down
  else
    [ "$from" != "$host" ] || usage_error "$host cannot be parted from itself"
    printf '%s %s\n' "$host" "$from" >>"$LAB/partitions"
    net_drop
  fi
}

# net_drop: the bridge drops what the partitions say, and nothing else.
net_drop() {
  local a b
  {
    printf 'table bridge lab\ndelete table bridge lab\ntable bridge lab {\n  chain forward {\n'
    printf '    type filter hook forward priority 0;\n'
    while read -r a b; do
      printf '    iifname "%s" oifname "%s" drop\n' "$(bridge_port "$a")" "$(bridge_port "$b")" \
        "$(bridge_port "$b")" "$(bridge_port "$a")"
    done <"$LAB/partitions"
    printf '  }\n}\n'
  } | lab_net nft -f -
}

# A delayed host's link ends in the relay, the relay's in the bridge.
bridge_port() { if [ -e "$LAB/$1/relay" ]; then printf 'd%s' "$1"; else printf 'v%s' "$1"; fi; }

net_slow() {
  need_running "${1:-}"
  local host=$1 rate='' delay=''
  shift
  while [ $# -gt 0 ]; do
    [ $# -ge 2 ] || usage_error "$1 needs a value"
    case $1 in
      --rate) [[ $2 =~ ^[0-9]+([kmg]bit)$ ]] || usage_error "--rate takes a rate such as 10mbit" && rate=$2 ;;
      --delay) [[ $2 =~ ^[0-9]+ms$ ]] || usage_error "--delay takes milliseconds such as 50ms" && delay=$2 ;;
      *) usage_error "unknown option '$1'" ;;
    esac
    shift 2
  done
  [ -n "$rate$delay" ] || usage_error "slow takes --rate, --delay or both"
  if [ -n "$rate" ]; then
    lab_net tc qdisc replace dev "v$host" root tbf rate "$rate" burst "$MTU_BURST" latency 400ms
    host_net "$host" tc qdisc replace dev eth0 root tbf rate "$rate" burst "$MTU_BURST" latency 400ms
  fi
  [ -z "$delay" ] || net_delay "$host" "${delay%ms}"
}

# Few kernels here have netem, so the delay is a program between link and bridge. It sees frames as
# the wire would, which network cards' shortcuts would not be.
net_delay() {
  local host=$1 i
  net_undelay "$host"
  : >"$LAB/$host/relay"
  lab_net ip link set "v$host" nomaster
  lab_net ip link add "d$host" type veth peer name "e$host"
  lab_net ethtool -K "d$host" tx off tso off gso off >/dev/null
  host_net "$host" ethtool -K eth0 tx off tso off gso off >/dev/null
  for i in "d$host" "e$host" "v$host"; do lab_net ip link set "$i" promisc on up; done
  lab_net ip link set "d$host" master br0
  FLOWCON_LAB_HOLDS=$LAB PYTHONDONTWRITEBYTECODE=1 setsid nsenter --target "$(holder)" --net -- \
    python3 "${LAB_PROGRAM%/*}/delay.py" "v$host" "e$host" "$2" </dev/null >>"$LAB/$host/log" 2>&1 9>&- &
  process_token $! >"$LAB/$host/relay"
  net_drop
}

net_undelay() {
  [ -e "$LAB/$1/relay" ] || return 0
  process_end "$(cat "$LAB/$1/relay")" 2 || :
  rm -f "$LAB/$1/relay"
  lab_net ip link delete "d$1" 2>/dev/null || :
}

net_heal() {
  local host=$1
  if [ -e "$LAB/$host/relay" ]; then
    net_undelay "$host"
    ! host_is_up "$host" || { lab_net ip link set "v$host" promisc off && lab_net ip link set "v$host" master br0; }
  fi
  sed -i -E "/(^| )$host( |\$)/d" "$LAB/partitions"
  net_drop
  host_is_up "$host" || return 0
  lab_net tc qdisc delete dev "v$host" root 2>/dev/null || :
  host_net "$host" tc qdisc delete dev eth0 root 2>/dev/null || :
  lab_net ip link set "v$host" up
}

# net_state HOST: what is wrong with it, or "ok".
net_state() {
  local words=()
  lab_net ip -json link show "v$1" | jq -e '.[0].flags | index("UP")' >/dev/null || words+=(unplugged)
  ! grep -qE "(^| )$1( |\$)" "$LAB/partitions" ||
    words+=("parted from $(sed -nE "s/^$1 (.*)/\1/p; s/^(.*) $1\$/\1/p" "$LAB/partitions" | sort -u | paste -sd' ')")
  ! lab_net tc qdisc show dev "v$1" | grep tbf >/dev/null || words+=("limited")
  [ ! -e "$LAB/$1/relay" ] || words+=("delayed")
  if [ ${#words[@]} = 0 ]; then printf ok; else (IFS=,; printf '%s' "${words[*]}"); fi
}
