#!/bin/sh
# tck-runner/faults.sh SCENARIO: see the list that it prints without arguments, or docs/testing.md.
# Exit code 0: every promise was kept; 1: one was broken; 2: the harness failed.
. "$(dirname -- "$0")/../samples/build.sh"
build server/app,tck-runner "$root/tck-runner/target/.built-faults"
find_home
exec "$java" -Xmx2g "-Dlightmq.home=$lightmq_home" "$logging" \
  -cp "$root/tck-runner/target/classes:$(cat "$root/tck-runner/target/test.classpath")" \
  io.lightmq.tck.faults.Faults "$@"
