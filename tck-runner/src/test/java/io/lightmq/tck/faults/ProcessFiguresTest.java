package io.lightmq.tck.faults;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class ProcessFiguresTest {

  @Test
  void readsTheHeapOfG1() {
    String info =
        """
        4711:
         garbage-first heap   total 131072K, used 23456K [0x00000000f8000000, 0x0000000100000000)
          region size 1024K, 7 young (7168K), 2 survivors (2048K)
         Metaspace       used 9000K, committed 9216K, reserved 1114112K
          class space    used 1000K, committed 1152K, reserved 1048576K
        """;
    assertThat(ProcessFigures.usedHeap(info)).isEqualTo(23_456L << 10);
  }

  @Test
  void addsTheGenerationsOfTheSerialCollector() {
    String info =
        """
        4711:
         def new generation   total 39296K, used 1000K [0x00000000f8000000, 0x00000000faaa0000)
          eden space 34944K,   2% used [0x00000000f8000000, 0x00000000f80fa000)
         tenured generation   total 87424K, used 5000K [0x00000000faaa0000, 0x0000000100000000)
         Metaspace       used 9000K, committed 9216K, reserved 1114112K
        """;
    assertThat(ProcessFigures.usedHeap(info)).isEqualTo(6_000L << 10);
  }
}
