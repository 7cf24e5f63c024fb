#!/bin/bash
# Runs the groups of measurements, the most needed first, each as a process of its own, and writes
# OUT/gpu_chip.csv, the groups' messages to OUT/gpu_chip.log and the power to OUT/power.csv.
# usage: run.sh [OUT [SECONDS [GROUP...]]]; all of it stays under SECONDS (95).
here=$(cd "$(dirname "$0")" && pwd) || exit 1
out=${1:-$here/build}
total=${2:-95}
shift 2 2>/dev/null || shift $#
# A group and the seconds it may take at most; they usually take a few.
groups=("$@")
[ ${#groups[@]} -gt 0 ] || groups=(check smem port hbm launch ops mix latency opsmem clock spill registers)
program=${PROGRAM:-$here/build/gpu_chip}
mkdir -p "$out"
csv=$out/gpu_chip.csv
log=$out/gpu_chip.log
echo "group,name,parameters,value,unit,spread,repeats" >"$csv"
: >"$log"
nvidia-smi >>"$log" 2>/dev/null
for group in "${groups[@]}"; do
    left=$((total - SECONDS))
    if [ $left -lt 4 ]; then
        echo "# no time left for group $group" >>"$log"
        continue
    fi
    most=20
    [ $most -le $((left - 3)) ] || most=$((left - 3))
    watcher=
    if [ "$group" = clock ] && command -v nvidia-smi >/dev/null; then
        nvidia-smi --query-gpu=timestamp,power.draw.instant,power.draw,clocks.sm,clocks.mem,temperature.gpu,clocks_event_reasons.active \
            --format=csv,noheader -lms 20 >"$out/power.csv" 2>&1 &
        watcher=$!
    fi
    begin=$SECONDS
    timeout -k 1 $((most + 2)) "$program" "$group" 0 "$most" >"$out/$group.part" 2>>"$log"
    status=$?
    [ -z "$watcher" ] || kill "$watcher"
    grep -v '^#' "$out/$group.part" >>"$csv"
    grep '^#' "$out/$group.part" >>"$log"
    rm -f "$out/$group.part"
    echo "# group $group: status $status, $((SECONDS - begin)) s" >>"$log"
done
grep -v '^# left out' "$log"
echo "# $(wc -l <"$csv") lines in $csv after $SECONDS s"
