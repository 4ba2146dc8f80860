package io.lightmq.core.storage;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class NioDiskTest {
  @TempDir Path directory;

  @Test
  void bytesOfSeveralBuffersLieWhereTheyWereWritten() throws Exception {
    try (NioDisk disk = NioDisk.open(directory)) {
      disk.createFolder("a/b");
      try (DiskFile file = disk.create("a/b/x")) {
        file.write(3, bytes("one"), bytes(""), bytes("two"));
        file.write(0, bytes("abc"));
        file.force();
        ByteBuffer read = ByteBuffer.allocate(20);
        assertThat(file.read(1, read)).isEqualTo(8);
        assertThat(new String(read.array(), 0, 8, StandardCharsets.US_ASCII)).isEqualTo("bconetwo");
        file.truncate(4);
        assertThat(file.size()).isEqualTo(4);
      }
      disk.forceDirectory("a/b");
      assertThat(disk.list("a/b")).containsExactly("x");
      assertThat(disk.list("nothing")).isEmpty();
    }
  }

  @Test
  void onlyItsOwnerMayEnterADirectoryThatItCreated() throws Exception {
    assumeTrue(Files.getFileStore(directory).supportsFileAttributeView("posix"));
    Path created = directory.resolve("parent/data");
    NioDisk.open(created).close();
    assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(created)))
        .isEqualTo("rwx------");
  }

  @Test
  void whatABrokerHasIsItsOwnersAloneWhoeverMadeTheDirectory() throws Exception {
    assumeTrue(Files.getFileStore(directory).supportsFileAttributeView("posix"));
    Path made = Files.createDirectory(directory.resolve("volume"));
    Path journal = Files.createDirectory(made.resolve("journal"));
    Path old = Files.writeString(journal.resolve("1.jnl"), "CARD 4111");
    Path users = Files.writeString(made.resolve("users"), "x");
    for (Path path : new Path[] {made, journal}) {
      Files.setPosixFilePermissions(path, PosixFilePermissions.fromString("rwxr-xr-x"));
    }
    for (Path path : new Path[] {old, users}) {
      Files.setPosixFilePermissions(path, PosixFilePermissions.fromString("rw-r--r--"));
    }
    try (NioDisk disk = NioDisk.open(made)) {
      disk.createFolder("segments");
      disk.create("segments/1.log").close();
      disk.create("ballast").close();
    }
    try (Stream<Path> all = Files.walk(made)) {
      assertThat(all.toList())
          .hasSize(8)
          .allSatisfy(
              path ->
                  assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(path)))
                      .as(path.toString())
                      .isEqualTo(Files.isDirectory(path) ? "rwx------" : "rw-------"));
    }
  }

  @Test
  void whatIsNotTheBrokersIsLeftAsItIs() throws Exception {
    assumeTrue(Files.getFileStore(directory).supportsFileAttributeView("posix"));
    Path home = Files.createDirectory(directory.resolve("home"));
    Path other = Files.createDirectory(home.resolve("public"));
    Path target = Files.writeString(directory.resolve("target"), "x");
    Files.createSymbolicLink(home.resolve("segments"), target);
    for (Path path : new Path[] {home, other, target}) {
      Files.setPosixFilePermissions(path, PosixFilePermissions.fromString("rwxr-xr-x"));
    }
    NioDisk.open(home).close();
    for (Path path : new Path[] {home, other, target}) {
      assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(path)))
          .isEqualTo("rwxr-xr-x");
    }
  }

  @Test
  void aFailureOfAFileNamesIt() throws Exception {
    try (NioDisk disk = NioDisk.open(directory)) {
      DiskFile file = disk.create("store");
      file.close();
      String path = directory.resolve("store").toRealPath().toString();
      assertThatThrownBy(() -> file.read(7, ByteBuffer.allocate(1)))
          .hasMessage(path + " cannot be read at 7: it is closed");
      assertThatThrownBy(() -> file.write(0, bytes("x")))
          .hasMessage(path + " cannot be written at 0: it is closed");
      assertThatThrownBy(file::force).hasMessage(path + " cannot be forced: it is closed");
    }
  }

  @Test
  void anExistingNameIsNotCreatedAgainAndARenameReplaces() throws Exception {
    try (NioDisk disk = NioDisk.open(directory)) {
      disk.create("x").close();
      try (DiskFile file = disk.create("y")) {
        file.write(0, bytes("new"));
      }
      assertThatThrownBy(() -> disk.create("x")).isInstanceOf(FileAlreadyExistsException.class);
      disk.rename("y", "x");
      assertThat(disk.exists("y")).isFalse();
      try (DiskFile file = disk.open("x")) {
        assertThat(file.size()).isEqualTo(3);
      }
      disk.delete("x");
      disk.delete("x");
      assertThat(disk.exists("x")).isFalse();
    }
  }

  @Test
  void aSecondOpenIsRefusedAndTheFirstKeepsItsLock() throws Exception {
    NioDisk disk = NioDisk.open(directory);
    for (int i = 0; i < 2; i++) {
      assertThatThrownBy(() -> NioDisk.open(directory))
          .isInstanceOf(IOException.class)
          .hasMessageContaining(directory.toRealPath().toString())
          .hasMessageContaining("choose another directory");
    }
    disk.close();
    NioDisk.open(directory).close();
    assertThat(directory.resolve("lock")).as("the lock's file outlives its owner").isEmptyFile();
  }

  @Test
  void aLockOfAnotherProcessIsNamedWithItsPid() throws Exception {
    Path java = Path.of(System.getProperty("java.home"), "bin", "java");
    Process other =
        new ProcessBuilder(
                java.toString(),
                "-cp",
                System.getProperty("java.class.path"),
                Holder.class.getName(),
                directory.toString())
            .redirectError(ProcessBuilder.Redirect.DISCARD)
            .start();
    try {
      assertThat(other.getInputStream().read()).isEqualTo('h');
      assertThatThrownBy(() -> NioDisk.open(directory))
          .hasMessageContaining("process " + other.pid());
    } finally {
      other.destroyForcibly().waitFor();
    }
    NioDisk.open(directory).close();
  }

  @Test
  void anOpenFileKeepsItsHandleUnderAnotherName() throws Exception {
    try (NioDisk disk = NioDisk.open(directory)) {
      disk.createFolder("f");
      DiskFile file = disk.create("f/one");
      file.write(0, bytes("one"));
      DiskFile renamed = disk.rename(file, "f/two");
      disk.forceDirectory("f");
      renamed.write(3, bytes("two"));
      renamed.force();
      assertThat(renamed.name()).isEqualTo("f/two");
      assertThat(disk.list("f")).containsExactly("two");
      assertThat(renamed.size()).isEqualTo(6);
      renamed.close();
    }
  }

  @Test
  void onlyALackOfHandlesIsOne() {
    IOException lack =
        NoFileHandleException.classify("f", new IOException("/d/f: Too many open files"));
    assertThat(lack).isInstanceOf(NoFileHandleException.class).hasMessageContaining("ulimit -n");
    IOException system = new IOException("/d/f: Too many open files in system");
    assertThat(NoFileHandleException.classify("f", system))
        .isInstanceOf(NoFileHandleException.class);
    IOException other = new IOException("/d/f: Permission denied");
    assertThat(NoFileHandleException.classify("f", other)).isSameAs(other);
  }

  @Test
  void namesDoNotLeadOutOfTheDirectory() throws Exception {
    try (NioDisk disk = NioDisk.open(directory)) {
      assertThatThrownBy(() -> disk.open("../x")).isInstanceOf(IllegalArgumentException.class);
    }
  }

  /** Holds the lock until it is killed or its input ends. */
  static final class Holder {
    private Holder() {}

    public static void main(String[] args) throws IOException {
      NioDisk.open(Path.of(args[0]));
      System.out.write('h');
      System.out.flush();
      System.in.read();
    }
  }

  private static ByteBuffer bytes(String text) {
    return ByteBuffer.wrap(text.getBytes(StandardCharsets.US_ASCII));
  }
}
