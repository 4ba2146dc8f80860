#!/bin/sh
# tck-runner/run.sh --joram [--broker process|mem] [--only TEXT]
#   Runs the JORAM conformance suite (196 tests, fetched on first use). The last line is
#   "N passed, N failed"; exit code 0: exactly the failures of joram-expected-failures.txt; 1: others,
#   or a listed one passes; 2: the run itself failed. The broker's log is kept in target/joram-run.
# tck-runner/run.sh --tck JAR|FOLDER|ZIP [FILTER] [--timeout-millis N] [--jobs N] [--embedded]
#                   [--restart-between-classes] [--resume]
#   Runs the Jakarta Messaging TCK that you have obtained; docs/tck.md says how. The last line is
#   "N passed, N failed, N skipped"; exit code 0: all passed; 1: some did not; 2: the run itself failed.
#   target/tck-run keeps report.txt with a line for each test, and the logs. --resume takes over the
#   classes that the report tells of, whole, and keeps the rest of that run in target/tck-run.before.
. "$(dirname -- "$0")/../samples/build.sh"
usage="use --joram [--broker process|mem] [--only TEXT], or --tck JAR|FOLDER|ZIP [FILTER] [options]"
suite=${1:-}
[ $# -gt 0 ] && shift

# run WORK CLASS [arguments]: a class of the runner, with an empty folder for what it leaves.
run() {
  work=$root/tck-runner/target/$1
  class=$2
  shift 2
  find_home
  before=
  case " $* " in
    *" --resume "*)
      before=$work.before
      rm -rf "$before"
      [ ! -d "$work" ] || mv "$work" "$before"
      ;;
  esac
  rm -rf "$work"
  mkdir -p "$work"
  [ -z "$before" ] || [ ! -f "$before/report.txt" ] || cp "$before/report.txt" "$work"
  "$java" -Xmx512m "-Dlightmq.home=$lightmq_home" "$logging" \
    -cp "$root/tck-runner/target/test-classes:$root/tck-runner/target/classes:$(cat "$root/tck-runner/target/test.classpath")" \
    "$class" "$@"
  code=$?
  [ $code -le 1 ] || exit 2
  exit $code
}

case $suite in
  -h | --help) sed -n '2,12s/^# \{0,1\}//p' "$0"; exit 0 ;;
  --joram)
    broker=process
    only=
    while [ $# -gt 0 ]; do
      case $1 in
        --broker) broker=${2:-}; shift ;;
        --only) only=${2:-}; shift ;;
        *) fail "unknown option $1; $usage" ;;
      esac
      shift
    done
    build server/app,tck-runner "$root/tck-runner/target/.built-joram" -Pjoram -Dtest.compile.skip=false
    run joram-run io.lightmq.tck.joram.JoramRun "$broker" \
      "$root/tck-runner/joram-expected-failures.txt" "$root/tck-runner/target/joram-run" "$only"
    ;;
  --tck)
    [ $# -gt 0 ] || fail "name the TCK's jar, folder or zip; docs/tck.md says how to obtain it"
    build server/app,tck-runner "$root/tck-runner/target/.built-tck" -Ptck -Dtest.compile.skip=false
    run tck-run io.lightmq.tck.suite.TckRun "$root/tck-runner/target/tck-run" "$@"
    ;;
  *) fail "name a suite; $usage" ;;
esac
