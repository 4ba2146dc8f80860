package io.lightmq.core.transaction;

import static org.assertj.core.api.Assertions.assertThat;

import io.lightmq.core.record.FieldReader;
import io.lightmq.core.record.FieldWriter;
import io.lightmq.core.record.ShardRecord.LinkAttached;
import io.lightmq.core.runtime.Guard;
import io.lightmq.core.transaction.Link.Verdict;
import io.lightmq.wire.entry.FaultCode;
import java.util.UUID;
import org.junit.jupiter.api.Test;

class LinksTest {
  private static final UUID A = new UUID(1, 1);
  private static final UUID B = new UUID(2, 2);

  @Test
  void numbersAreTakenOnceAndInOrder() {
    Links links = new Links(new Guard());
    Link link = links.attached(new LinkAttached(A, 1));
    assertThat(link.judge(1)).isEqualTo(Verdict.TAKE);
    assertThat(link.judge(2)).isEqualTo(Verdict.EARLY);
    links.taken(A, 1);
    assertThat(link.judge(1)).isEqualTo(Verdict.REPEAT);
    assertThat(link.judge(2)).isEqualTo(Verdict.TAKE);
  }

  @Test
  void aRefusalSpendsItsNumberAndIsKeptUntilTheClientKnowsIt() {
    Links links = new Links(new Guard());
    links.attached(new LinkAttached(A, 1));
    links.refused(A, 1, FaultCode.DESTINATION_GONE, "gone");
    links.taken(A, 2);
    Link link = links.attached(new LinkAttached(A, 1));
    assertThat(link.outcomes()).containsExactly(new Outcome(1, FaultCode.DESTINATION_GONE, "gone"));
    assertThat(link.outcome(2)).isNull();
    assertThat(links.attached(new LinkAttached(A, 2)).outcomes()).isEmpty();
  }

  @Test
  void anAttachTakesEverythingBelowItsFirstNumber() {
    Links links = new Links(new Guard());
    assertThat(links.attached(new LinkAttached(A, 42)).last()).isEqualTo(41);
  }

  @Test
  void theLeastUsedLinkIsClosedWhenItIsADayOld() {
    Links links = new Links(new Guard());
    links.attached(new LinkAttached(A, 1)).used(1000);
    links.attached(new LinkAttached(B, 1)).used(2000);
    assertThat(links.idle(1000 + Links.UNUSED_MILLIS)).isNull();
    assertThat(links.idle(1001 + Links.UNUSED_MILLIS)).isEqualTo(A);
    links.closed(A);
    assertThat(links.idle(1001 + Links.UNUSED_MILLIS)).isNull();
  }

  @Test
  void aSnapshotHasTheStateAtItsBeginningWhateverChangesMeanwhile() {
    Links links = new Links(new Guard());
    links.attached(new LinkAttached(A, 6));
    links.attached(new LinkAttached(B, 9));
    links.beginSnapshot();
    links.taken(A, 6);
    links.closed(B);
    links.attached(new LinkAttached(new UUID(3, 3), 3));
    while (!links.encodeSome(1)) {
      assertThat(links.size()).isEqualTo(2);
    }
    FieldWriter out = new FieldWriter(16);
    links.endSnapshot(out);
    Links read = new Links(new Guard());
    read.decode(new FieldReader(out.view()), 4);
    assertThat(read.size()).isEqualTo(2);
    Link a = read.find(A);
    Link b = read.find(B);
    assertThat(a == null ? -1 : a.last()).isEqualTo(5);
    assertThat(b == null ? -1 : b.last()).isEqualTo(8);
  }
}
