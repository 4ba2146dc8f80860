package io.lightmq.tck.golden;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.zip.ZipEntry;
import java.util.zip.ZipInputStream;

/**
 * A copy of a golden store.
 *
 * @param folder the data directory
 */
record GoldenStore(Path folder, Manifest manifest) {

  /** Unpacks one of the stores in the test resources into an empty folder. */
  static GoldenStore unpack(String name, Path folder) throws IOException {
    try (InputStream in = GoldenStore.class.getResourceAsStream("/golden-stores/" + name)) {
      if (in == null) {
        throw new IOException("no golden store " + name);
      }
      ZipInputStream zip = new ZipInputStream(in);
      for (ZipEntry entry = zip.getNextEntry(); entry != null; entry = zip.getNextEntry()) {
        Path file = folder.resolve(entry.getName()).normalize();
        if (!file.startsWith(folder)) {
          throw new IOException(name + " has the entry " + entry.getName());
        }
        Files.createDirectories(file.getParent());
        Files.copy(zip, file);
      }
    }
    Path manifest = folder.resolve("manifest.txt");
    Manifest read = Manifest.read(manifest);
    Files.delete(manifest);
    return new GoldenStore(folder, read);
  }

  long createdMillis() {
    return Long.parseLong(manifest.only("created"));
  }
}
