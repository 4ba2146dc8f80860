#!/bin/sh
# tck-runner/run.sh --joram [--broker process|mem] [--only TEXT]
# Runs the JORAM conformance suite (196 tests, fetched on first use). The last line is
# "N passed, N failed"; exit code 0: exactly the failures of joram-expected-failures.txt; 1: others,
# or a listed one passes; 2: the run itself failed. The broker's log is kept in target/joram-run.
. "$(dirname -- "$0")/../samples/build.sh"
suite=
broker=process
only=
while [ $# -gt 0 ]; do
  case $1 in
    --joram) suite=joram ;;
    --broker) broker=${2:-}; shift ;;
    --only) only=${2:-}; shift ;;
    *) fail "unknown option $1; use --joram [--broker process|mem] [--only TEXT]" ;;
  esac
  shift
done
[ "$suite" = joram ] || fail "name a suite: --joram"
build server/app,tck-runner "$root/tck-runner/target/.built-joram" -Pjoram
find_home
work=$root/tck-runner/target/joram-run
rm -rf "$work"
mkdir -p "$work"
"$java" -Xmx512m "-Dlightmq.home=$lightmq_home" "$logging" \
  -cp "$root/tck-runner/target/test-classes:$root/tck-runner/target/classes:$(cat "$root/tck-runner/target/test.classpath")" \
  io.lightmq.tck.joram.JoramRun "$broker" "$root/tck-runner/joram-expected-failures.txt" "$work" "$only"
code=$?
[ $code -le 1 ] || exit 2
exit $code
