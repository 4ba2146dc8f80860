package io.lightmq.core.storage.journal;

import io.lightmq.core.runtime.Loops;
import io.lightmq.core.sim.FaultyDisk;
import io.lightmq.core.storage.Disk;
import io.lightmq.core.storage.DiskFile;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.UUID;

/** Journals with one planted bug each, to prove that the tests would see it. */
public final class FaultyJournals {
  private FaultyJournals() {}

  /** Goes on behind the recovered tail in the same file, as if its bytes were on the device. */
  public static LocalJournal trustsTheRecoveredTail(
      Disk disk, Loops loops, JournalSettings settings, UUID store) {
    LocalJournal.Recoverer trusting =
        (from, replay) -> {
          Recovery.Result found = new Recovery(disk, store, settings).run(from, replay);
          return new Recovery.Result(
              found.live(),
              found.replaced(),
              found.spare(),
              found.highestNumber(),
              found.end(),
              found.durable(),
              found.previous(),
              found.epoch(),
              !found.live().isEmpty());
        };
    return new LocalJournal(disk, loops, settings, store, trusting);
  }

  /** Takes what a recovery file was to replace as spare before its own tail is forced. */
  static LocalJournal reusesReplacedFilesAtOnce(
      Disk disk, Loops loops, JournalSettings settings, UUID store) {
    LocalJournal.Recoverer hasty =
        (from, replay) -> {
          Recovery.Result found = new Recovery(disk, store, settings).run(from, replay);
          List<DiskFile> spare = new java.util.ArrayList<>(found.spare());
          found.replaced().forEach(file -> spare.add(file.file()));
          return new Recovery.Result(
              found.live(),
              List.of(),
              spare,
              found.highestNumber(),
              found.end(),
              found.durable(),
              found.previous(),
              found.epoch(),
              found.clean());
        };
    return new LocalJournal(disk, loops, settings, store, hasty);
  }

  /** A disk on which every batch that is read gets the CRC that its bytes happen to have. */
  static Disk skipsTheCrc(Disk disk) {
    return new FaultyDisk(disk) {
      @Override
      protected int read(DiskFile file, long fileOffset, ByteBuffer into) throws IOException {
        int start = into.position();
        int count = super.read(file, fileOffset, into);
        for (int at = start; at + BatchHeader.BYTES <= start + count; at += BatchHeader.BYTES) {
          BatchHeader header = BatchHeader.read(into, at);
          if (header != null
              && header.length() >= BatchHeader.BYTES
              && header.length() <= start + count - at) {
            header.write(new ByteBuffer[] {into.slice(at, header.length())});
          }
        }
        return count;
      }
    };
  }
}
