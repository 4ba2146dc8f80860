# Sourced by the scripts here and in tck-runner: finds Java 17, builds what is missing or older than
# its sources, and sets root, java, logging and, by find_home, lightmq_home.

root=$(CDPATH= cd -- "$(dirname -- "$0")/.." && pwd) || exit 2

fail() {
  echo "$0: $*" >&2
  exit 2
}

if [ -n "${JAVA_HOME:-}" ]; then
  java=$JAVA_HOME/bin/java
else
  java=$(command -v java) || fail "no java on the PATH; install a JDK 17 or set JAVA_HOME"
fi
[ -x "$java" ] || fail "$java is not executable; JAVA_HOME must name a JDK 17 or newer"
version=$("$java" -version 2>&1 | sed -n 's/.*version "\([0-9]*\).*/\1/p' | head -n 1)
[ "${version:-0}" -ge 17 ] || fail "$java is Java ${version:-unknown}; LightMQ needs 17 or newer"

# Clients log warnings to standard error; LIGHTMQ_LOG=DEBUG shows more.
logging=-Dlogback.configurationFile=$root/samples/logback.xml

# build MODULES STAMP [maven options]: packages the modules and what they need, unless STAMP is newer
# than every source. Tests are left out: compiling them takes longer than all the rest.
build() {
  modules=$1
  stamp=$2
  shift 2
  if [ -f "$stamp" ]; then
    newer=$(find "$root/pom.xml" "$root/spi" "$root/provider" "$root/server" "$root/samples" \
      "$root/tck-runner" \( \( -name target -o -name frameworks \) -prune \) -o -type f \
      \( -path '*/src/*' -o -name pom.xml \) -newer "$stamp" -print | head -n 1)
    [ -n "$newer" ] || return 0
  fi
  echo "First LightMQ is compiled, without its tests: $modules and what they need." >&2
  echo "That takes a minute or two; the first time Maven and the libraries are fetched too." >&2
  (
    cd "$root" && ./mvnw -B -ntp -Pquick -pl "$modules" -am "$@" package
    echo "exit code $?"
  ) 2>&1 | while IFS= read -r line; do
    case $line in
      "[INFO] Building LightMQ"*) echo "  ${line#"[INFO] Building "}" ;;
      "[INFO]"* | "[WARNING]"*) ;;
      "exit code "*) exit "${line#"exit code "}" ;;
      *) printf '%s\n' "$line" ;;
    esac
  done >&2 || fail "the build failed"
  : > "$stamp"
}

# find_home: the server directory that the build has assembled.
find_home() {
  lightmq_home=
  for directory in "$root"/server/app/target/lightmq-*/bin; do
    [ -x "$directory/lightmq" ] && lightmq_home=${directory%/bin}
  done
  [ -n "$lightmq_home" ] || fail "server/app/target holds no lightmq-*/bin/lightmq after the build"
}
