package io.lightmq.core.storage.journal;

import static org.assertj.core.api.Assertions.assertThat;

import io.lightmq.spi.Journal.Outcome;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

class LocalJournalTest {
  private final JournalRig rig = new JournalRig(1);

  @Test
  void aBatchIsConfirmedOnceItIsForced() throws Exception {
    rig.start();
    TestBatch batch = rig.append("hello");
    assertThat(batch.outcome).isNull();

    rig.loops.runUntilIdle();

    assertThat(batch.written).isTrue();
    assertThat(batch.outcome).isEqualTo(Outcome.DONE);
    assertThat(rig.journal.durable()).isEqualTo(batch.end());
  }

  @Test
  void whatIsConfirmedIsFoundAfterAPowerCut() throws Exception {
    rig.start();
    for (int i = 0; i < 100; i++) {
      rig.append("message " + i);
    }
    rig.loops.runUntilIdle();
    rig.crash();

    rig.recover();

    assertThat(rig.confirmed).hasSize(101);
    rig.assertConfirmedIsThere();
  }

  @Test
  void aCleanCloseLeavesNothingToWriteAgain() throws Exception {
    rig.start();
    TestBatch batch = rig.append("last");
    rig.journal.close();
    assertThat(batch.outcome).isEqualTo(Outcome.DONE);
    rig.crash();

    rig.recover();

    assertThat(rig.journal.appended()).isEqualTo(batch.end());
    assertThat(rig.disk.list("journal").stream().filter(name -> isBegun(name))).hasSize(1);
  }

  @Test
  void bytesAreReadFromTheFiles() throws Exception {
    rig.start();
    TestBatch first = rig.append("first");
    byte[] large = new byte[30_000];
    large[29_999] = 7;
    rig.append(large, false, true);
    rig.loops.runUntilIdle();
    rig.append(large, false, true);
    rig.loops.runUntilIdle();
    TestBatch last = rig.append(large, false, true);
    rig.loops.runUntilIdle();

    ByteBuffer bytes = ByteBuffer.allocate((int) (last.end() - first.offset));
    rig.journal.read(first.offset, bytes);

    assertThat(new String(bytes.array(), 64, 5, StandardCharsets.UTF_8)).isEqualTo("first");
    assertThat(bytes.get((int) (last.offset - first.offset) + 64 + 29_999)).isEqualTo((byte) 7);
    assertThat(rig.journal.pool().files()).isGreaterThan(1);
  }

  private boolean isBegun(String name) {
    try {
      ByteBuffer page = ByteBuffer.wrap(rig.disk.contents("journal/" + name), 0, 4096);
      FileHeader header = FileHeader.read(page);
      return header != null && header.number() == FilePool.number(name);
    } catch (java.io.IOException e) {
      throw new AssertionError(e);
    }
  }
}
