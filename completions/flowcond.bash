# SPDX-License-Identifier: Apache-2.0
# bash completion for flowcond and flowcon-sim. That of `docker flowcon` is docker's own script, which asks
# the plugin. Install as completions/flowcond, with a link flowcon-sim to it.
# shellcheck shell=bash

# What the option --$2 of the program $1 takes, as its help has it: "SECONDS", "weight|quota", "".
__flowcon_value() {
  "$1" --help 2>/dev/null | awk -v name="--$2" '
    { sub(/^ +(-h,)?/, "") }
    $1 == name { if (match($0, /^[^ ]+ [^ ]/)) print $2; exit }'
}

__flowcon_offer() {
  mapfile -t COMPREPLY < <(compgen -W "$1" -- "$2")
}

_flowcond() {
  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]} value
  # bash takes "--option=value" apart at the equals sign.
  if [ "$cur" = = ]; then
    cur=
  elif [ "$prev" = = ] && [ "$COMP_CWORD" -gt 1 ]; then
    prev=${COMP_WORDS[COMP_CWORD - 2]}
  fi
  COMPREPLY=()
  case $prev in
    --?*)
      value=$(__flowcon_value "$1" "${prev#--}")
      case $value in
        *'|'*) __flowcon_offer "${value//|/ }" "$cur" && return ;;
        PATH | FILE | FOLDERS)
          compopt -o filenames 2>/dev/null
          mapfile -t COMPREPLY < <(compgen -f -- "$cur")
          return
          ;;
        GROUP) mapfile -t COMPREPLY < <(compgen -g -- "$cur") && return ;;
        HOST) mapfile -t COMPREPLY < <(compgen -A hostname -- "$cur") && return ;;
        '') ;;
        *) return ;;
      esac
      ;;
  esac
  __flowcon_offer "$("$1" --help 2>/dev/null | sed -nE 's/^ +(-h,)?(--[a-z][a-z.-]*).*/\2/p')" "$cur"
}

# The first words of the lines below the heading $1 of the help that the rest prints.
__flowcon_listed() {
  "${@:2}" --help 2>/dev/null | awk -v heading="$1" '
    index($0, heading) == 1 { inside = 1; next } /^$/ { inside = 0 } inside { print $1 }'
}

_flowcon_sim() {
  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]} command=${COMP_WORDS[1]}
  COMPREPLY=()
  if [ "$COMP_CWORD" = 1 ]; then
    __flowcon_offer "$(__flowcon_listed Commands: "$1") --help --version" "$cur"
    return
  fi
  case $prev in
    --policy) __flowcon_offer "$(__flowcon_listed Policies "$1" "$command")" "$cur" ;;
    --format) __flowcon_offer "table csv json" "$cur" ;;
    --start) __flowcon_offer "balanced random least" "$cur" ;;
    --counters) __flowcon_offer "all none" "$cur" ;;
    --report | --curves | --trace)
      compopt -o filenames 2>/dev/null
      mapfile -t COMPREPLY < <(compgen -f -- "$cur")
      ;;
    *)
      if [ "$COMP_CWORD" = 2 ] && [[ $cur != -* ]]; then
        __flowcon_offer "$(__flowcon_listed Algorithms: "$1" "$command") $(__flowcon_listed Schedules "$1" "$command")" "$cur"
        [ "$command" = decide ] || [ ${#COMPREPLY[@]} -gt 0 ] || mapfile -t COMPREPLY < <(compgen -f -- "$cur")
      else
        __flowcon_offer "$("$1" "$command" --help 2>/dev/null | sed -nE 's/^ +(-h, )?(--[a-z][a-z-]*).*/\2/p')" "$cur"
      fi
      ;;
  esac
}

complete -F _flowcond flowcond
complete -F _flowcon_sim flowcon-sim
