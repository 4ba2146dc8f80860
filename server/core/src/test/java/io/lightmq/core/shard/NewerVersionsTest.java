package io.lightmq.core.shard;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lightmq.core.record.MalformedRecordException;
import io.lightmq.wire.entry.DestinationKind;
import io.lightmq.wire.entry.DestinationName;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.zip.CRC32C;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * What a newer release has written is refused with both versions, never taken for damage, cut off
 * or passed over: of each format that a start reads the version is raised by one, and its CRCs made
 * to fit.
 */
final class NewerVersionsTest {
  private static final DestinationName ORDERS =
      new DestinationName(DestinationKind.QUEUE, "orders");
  private static final int PAGE = 4096;
  private static final int BATCH = 64;
  private static final int SNAPSHOT_HEADER = 64;
  private static final int SNAPSHOT_FOOTER = 32;

  /** Where the length of the state's first slice stands, behind the header of its section. */
  private static final int FIRST_SLICE = SNAPSHOT_HEADER + 16;

  /** A format, where its version stands, and which CRCs cover it. */
  enum Format {
    STORE("") {
      @Override
      int raise(ByteBuffer file) {
        return raiseInt(file, 8);
      }
    },
    JOURNAL_FILE("journal") {
      @Override
      int raise(ByteBuffer file) {
        int known = raiseInt(file, 8);
        file.putInt(12, crc(file, 0, PAGE, 12));
        return known;
      }
    },
    BATCH_HEADER("journal") {
      @Override
      int raise(ByteBuffer file) {
        int known = raiseByte(file, PAGE + 4);
        fixBatch(file);
        return known;
      }
    },
    RECORD("journal") {
      @Override
      int raise(ByteBuffer file) {
        int known = raiseByte(file, PAGE + BATCH + 1);
        fixBatch(file);
        return known;
      }
    },
    SNAPSHOT("snapshots") {
      @Override
      int raise(ByteBuffer file) {
        int known = raiseInt(file, 8);
        file.putInt(SNAPSHOT_HEADER - 4, crc(file, 0, SNAPSHOT_HEADER - 4));
        fixSnapshot(file);
        return known;
      }
    },
    STATE("snapshots") {
      @Override
      int raise(ByteBuffer file) {
        int known = raiseByte(file, FIRST_SLICE + 4);
        fixSnapshot(file);
        return known;
      }
    },
    DESTINATION("snapshots") {
      @Override
      int raise(ByteBuffer file) {
        int second = FIRST_SLICE + 4 + file.getInt(FIRST_SLICE);
        int known = raiseByte(file, second + 4);
        fixSnapshot(file);
        return known;
      }
    };

    final String folder;

    Format(String folder) {
      this.folder = folder;
    }

    /** Raises the version; returns what it was. */
    abstract int raise(ByteBuffer file);
  }

  private static int raiseInt(ByteBuffer file, int at) {
    int known = file.getInt(at);
    file.putInt(at, known + 1);
    return known;
  }

  private static int raiseByte(ByteBuffer file, int at) {
    int known = file.get(at);
    file.put(at, (byte) (known + 1));
    return known;
  }

  private static int crc(ByteBuffer file, int from, int length, int crcAt) {
    CRC32C crc = new CRC32C();
    crc.update(file.slice(from, crcAt));
    crc.update(new byte[4]);
    crc.update(file.slice(from + crcAt + 4, length - crcAt - 4));
    return (int) crc.getValue();
  }

  private static int crc(ByteBuffer file, int from, int length) {
    CRC32C crc = new CRC32C();
    crc.update(file.slice(from, length));
    return (int) crc.getValue();
  }

  private static void fixBatch(ByteBuffer file) {
    file.putInt(PAGE + 36, crc(file, PAGE, file.getInt(PAGE + 32), 36));
  }

  private static void fixSnapshot(ByteBuffer file) {
    int footer = file.capacity() - SNAPSHOT_FOOTER;
    file.putInt(footer + 16, crc(file, 0, footer));
    file.putInt(footer + 28, crc(file, footer, 28));
  }

  private final BrokerHarness harness = new BrokerHarness(1);

  @ParameterizedTest
  @EnumSource(Format.class)
  void aNewerVersionIsRefusedWithBothVersions(Format format) throws IOException {
    harness.open();
    FakePeer peer = harness.attach();
    long orders = harness.producer(peer, ORDERS);
    harness.receipt(peer, harness.publish(peer, orders, 1, "m1"));
    if (format.folder.equals("snapshots")) {
      harness.close();
    } else {
      harness.crash(false);
    }
    String name = file(format.folder);
    ByteBuffer bytes = ByteBuffer.wrap(harness.disk.contents(name));
    int known = format.raise(bytes);
    harness.disk.replace(name, bytes.array());

    assertThatThrownBy(harness::open)
        .isInstanceOfAny(IOException.class, MalformedRecordException.class)
        .hasMessageMatching("(?s).*version " + (known + 1) + "\\b.*\\b" + known + "\\b.*")
        .hasMessageContaining("reads");
  }

  private String file(String folder) throws IOException {
    if (folder.isEmpty()) {
      return "store";
    }
    return folder
        + "/"
        + harness.disk.list(folder).stream()
            .filter(name -> folder.equals("snapshots") || name.endsWith("1.jnl"))
            .max(String::compareTo)
            .orElseThrow();
  }
}
