#!/bin/sh
# For samples/frameworks/*/run.sh: framework.sh FOLDER MAIN [ARGUMENTS] builds LightMQ, then the program
# in FOLDER, whose pom.xml names the framework, and runs it. What it shares with others is in the folder
# that the variable sources names.
. "$(dirname -- "$0")/build.sh"
folder=$1
main=$2
shift 2
build server/app,samples "$root/samples/target/.built-demo"
find_home
others=$folder/target/framework.classpath
if [ ! -f "$others" ] || [ "$folder/pom.xml" -nt "$others" ]; then
  "$root/mvnw" -B -q -ntp -f "$folder/pom.xml" \
    org.apache.maven.plugins:maven-dependency-plugin:3.10.0:build-classpath \
    "-Dmdep.outputFile=$others" >&2 || fail "the libraries of $folder cannot be had"
fi
path=$root/samples/target/classes:$(cat "$root/samples/target/runtime.classpath"):$(cat "$others")
mkdir -p "$folder/target/classes"
"${java}c" --release 17 -d "$folder/target/classes" -cp "$path" \
  $(find "$folder/src/main/java" ${sources:+"$sources"} -name '*.java') || fail "the program in $folder does not compile"
exec "$java" "-Dlightmq.home=$lightmq_home" "$logging" -cp "$folder/target/classes:$path" "$main" "$@"
