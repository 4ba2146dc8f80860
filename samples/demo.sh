#!/bin/sh
# samples/demo.sh [FILE]: every line of FILE goes through a broker that is killed on the way.
# Without FILE a text of 120,000 lines is generated. Exit code 0: nothing was lost; 1: the promise
# was broken; 2: the demo could not do its work.
. "$(dirname -- "$0")/build.sh"
build server/app,samples "$root/samples/target/.built-demo"
find_home
exec "$java" -Xmx1g "-Dlightmq.home=$lightmq_home" "$logging" \
  -cp "$root/samples/target/classes:$(cat "$root/samples/target/runtime.classpath")" \
  io.lightmq.samples.demo.Demo "$@"
