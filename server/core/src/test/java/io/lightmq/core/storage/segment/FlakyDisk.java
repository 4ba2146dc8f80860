package io.lightmq.core.storage.segment;

import io.lightmq.core.sim.FaultyDisk;
import io.lightmq.core.storage.Disk;
import io.lightmq.core.storage.DiskFile;
import java.io.IOException;
import java.nio.ByteBuffer;

/** A disk whose nth read from now on gives wrong bytes, once. */
final class FlakyDisk extends FaultyDisk {
  private int countdown;
  private int spoilt;

  FlakyDisk(Disk disk) {
    super(disk);
  }

  void spoilRead(int nth) {
    countdown = nth;
  }

  int spoilt() {
    return spoilt;
  }

  @Override
  protected int read(DiskFile file, long fileOffset, ByteBuffer into) throws IOException {
    int start = into.position();
    int got = super.read(file, fileOffset, into);
    if (--countdown == 0) {
      int at = start + (into.position() - start) / 2;
      into.put(at, (byte) ~into.get(at));
      spoilt++;
    }
    return got;
  }
}
