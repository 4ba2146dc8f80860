package io.lightmq.core.storage;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.nio.file.ReadOnlyFileSystemException;
import java.util.List;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class FileFaultsTest {
  @TempDir Path directory;

  @Test
  void everyExceptionOfTheFileSystemIsToldWithItsFileAndItsReason() {
    assertThat(FileFaults.text(new AccessDeniedException("/d/data")))
        .startsWith("/d/data: permission denied; the user " + System.getProperty("user.name"));
    assertThat(FileFaults.text(new NoSuchFileException("/d/data")))
        .isEqualTo("/d/data: there is no such file or directory");
    assertThat(FileFaults.text(new NotDirectoryException("/d/data")))
        .isEqualTo("/d/data: that is not a directory");
    assertThat(FileFaults.text(new FileAlreadyExistsException("/d/data")))
        .isEqualTo("/d/data: that exists already");
    assertThat(FileFaults.text(new FileSystemException("/d/data", null, "Read-only file system")))
        .isEqualTo("/d/data: Read-only file system");
    assertThat(FileFaults.text(new FileSystemException("/a", "/b", "Invalid cross-device link")))
        .isEqualTo("/a to /b: Invalid cross-device link");
    assertThat(FileFaults.text(new FileSystemException("/d/data")))
        .isEqualTo("/d/data: FileSystemException");
    assertThat(FileFaults.text(new IOException("Input/output error")))
        .isEqualTo("Input/output error");
    assertThat(FileFaults.text(new IOException())).isEqualTo("IOException");
    assertThat(FileFaults.text(new ReadOnlyFileSystemException()))
        .isEqualTo("ReadOnlyFileSystemException");
  }

  @Test
  void noneThatTheFileSystemReallyThrowsIsABarePath() throws Exception {
    Path file = Files.writeString(directory.resolve("file"), "x");
    List<ThrowingCallable> attempts =
        List.of(
            () -> Files.readString(directory.resolve("nothing")),
            () -> Files.createDirectory(file),
            () -> Files.createDirectory(file.resolve("below")),
            () -> Files.newDirectoryStream(file),
            () -> Files.readString(directory),
            () -> Files.delete(directory));
    for (ThrowingCallable attempt : attempts) {
      Throwable thrown = catchThrowable(attempt);
      assertThat(thrown).isInstanceOf(IOException.class);
      assertThat(FileFaults.text(thrown))
          .isNotEqualTo(file.toString())
          .isNotEqualTo(directory.toString())
          .contains(" ");
    }
  }
}
