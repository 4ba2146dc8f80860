package io.lightmq.node.credit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lightmq.node.credit.CreditLine.Admission;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import org.junit.jupiter.api.Test;

class CreditLedgerTest {
  private static final int LARGEST = 1 << 20;
  private static final CreditSettings SETTINGS =
      new CreditSettings(8L << 20, 512 << 10, 4L << 20, LARGEST, 64);

  /** One step against one of the clients. */
  private record Step(int client, int action, int bytes) {}

  /** What a client and the broker have under way, counted apart from the ledger. */
  private static final class Client {
    private final CreditLine line;
    private final List<Integer> inBroker = new ArrayList<>();
    private final AtomicInteger admitted = new AtomicInteger();
    private long sent;
    private int waits;

    Client(CreditLine line) {
      this.line = line;
    }

    void send(int bytes) {
      if (waits > 0 || sent >= line.granted()) {
        return;
      }
      Admission admission = line.admit(bytes, admitted::incrementAndGet);
      assertThat(admission).isNotEqualTo(Admission.EXCEEDED);
      if (admission == Admission.NOW) {
        arrived(bytes);
      } else {
        waits = bytes;
      }
    }

    void settle() {
      if (waits > 0 && admitted.get() > 0) {
        admitted.set(0);
        int bytes = waits;
        waits = 0;
        arrived(bytes);
      }
    }

    private void arrived(int bytes) {
      line.received(bytes);
      sent += bytes;
      inBroker.add(bytes);
    }

    void returnOldest() {
      if (!inBroker.isEmpty()) {
        line.returned(inBroker.remove(0));
      }
    }
  }

  @Provide
  Arbitrary<List<Step>> steps() {
    Arbitrary<Integer> sizes =
        Arbitraries.oneOf(
            Arbitraries.integers().between(1, 4_000), Arbitraries.integers().between(1, LARGEST));
    return Combinators.combine(
            Arbitraries.integers().between(0, 11), Arbitraries.integers().between(0, 20), sizes)
        .as(Step::new)
        .list()
        .ofMaxSize(400);
  }

  @Property(tries = 300)
  void allGrantsTogetherStayWithinTheBudget(@ForAll("steps") List<Step> steps) {
    CreditLedger ledger = new CreditLedger(SETTINGS);
    List<Client> clients = new ArrayList<>();
    List<Client> closed = new ArrayList<>();
    for (Step step : steps) {
      if (step.client() >= clients.size()) {
        clients.add(new Client(ledger.open()));
      } else {
        Client client = clients.get(step.client());
        if (step.action() == 0) {
          client.line.close();
          closed.add(clients.remove(step.client()));
        } else if (step.action() < 12) {
          client.send(step.bytes());
        } else {
          client.returnOldest();
        }
      }
      clients.forEach(Client::settle);
      assertThat(ledger.exposedBytes()).isBetween(0L, SETTINGS.budgetBytes());
      long held = clients.stream().mapToLong(client -> client.line.outstanding()).sum();
      held += closed.stream().mapToLong(client -> client.line.outstanding()).sum();
      assertThat(held).isLessThanOrEqualTo(ledger.exposedBytes());
    }
    drain(clients, closed);
    assertThat(ledger.waitingLines()).isZero();
    clients.forEach(client -> client.line.close());
    assertThat(ledger.exposedBytes()).isZero();
  }

  /** Everything that waits gets its turn once what is in the broker has gone through. */
  private static void drain(List<Client> clients, List<Client> closed) {
    closed.forEach(
        client -> {
          while (!client.inBroker.isEmpty()) {
            client.returnOldest();
          }
        });
    boolean busy = true;
    while (busy) {
      busy = false;
      for (Client client : clients) {
        client.settle();
        busy |= !client.inBroker.isEmpty();
        client.returnOldest();
      }
    }
    assertThat(clients).allMatch(client -> client.waits == 0);
  }

  @Test
  void everyConnectionFindsAtLeastTheFloorEvenWhenTheOthersAreIdle() {
    CreditLedger ledger = new CreditLedger(SETTINGS);
    for (int i = 0; i < SETTINGS.connections(); i++) {
      assertThat(ledger.open().granted()).isBetween(SETTINGS.floorBytes(), SETTINGS.firstBytes());
    }
    assertThat(ledger.exposedBytes()).isLessThanOrEqualTo(SETTINGS.budgetBytes());
  }

  @Test
  void aBusyConnectionGrowsUpToItsMaximumWhileThereIsRoom() {
    CreditSettings roomy = new CreditSettings(64L << 20, 512 << 10, 4L << 20, LARGEST, 64);
    CreditLine line = new CreditLedger(roomy).open();
    assertThat(line.window()).isEqualTo(512 << 10);
    for (int i = 0; i < 100; i++) {
      assertThat(line.admit(256 << 10, () -> {})).isEqualTo(Admission.NOW);
      line.received(256 << 10);
      line.returned(256 << 10);
    }
    assertThat(line.window()).isEqualTo(4 << 20);
  }

  @Test
  void growthShrinksOnceTheBudgetIsShort() {
    CreditLedger ledger = new CreditLedger(SETTINGS);
    CreditLine busy = ledger.open();
    for (int i = 0; i < 50; i++) {
      busy.admit(256 << 10, () -> {});
      busy.received(256 << 10);
      busy.returned(256 << 10);
    }
    long grown = busy.window();
    for (int i = 1; i < SETTINGS.connections(); i++) {
      ledger.open();
    }
    for (int i = 0; i < 20; i++) {
      busy.admit(1_000, () -> {});
      busy.received(1_000);
      busy.returned(1_000);
    }
    assertThat(grown).isGreaterThan(512 << 10);
    assertThat(busy.window()).isEqualTo(SETTINGS.floorBytes());
  }

  @Test
  void aRunWithoutAnyCreditIsAViolation() {
    CreditLine line = new CreditLedger(SETTINGS).open();
    int all = (int) line.granted();
    line.admit(all, () -> {});
    line.received(all);
    assertThat(line.admit(1, () -> {})).isEqualTo(Admission.EXCEEDED);
    assertThatThrownBy(() -> line.received(1)).hasMessageContaining("without admission");
  }

  @Test
  void onlyOneLargeRunUsesThePartThatIsKeptForIt() {
    CreditLedger ledger =
        new CreditLedger(new CreditSettings(LARGEST + (1 << 20), 4 << 10, 1 << 20, LARGEST, 128));
    CreditLine first = ledger.open();
    CreditLine second = ledger.open();
    AtomicInteger admitted = new AtomicInteger();
    assertThat(first.admit(LARGEST, admitted::incrementAndGet)).isEqualTo(Admission.NOW);
    first.received(LARGEST);
    assertThat(second.admit(LARGEST, admitted::incrementAndGet)).isEqualTo(Admission.LATER);
    assertThat(admitted).hasValue(0);
    first.returned(LARGEST);
    assertThat(admitted).hasValue(1);
    second.received(LARGEST);
    second.returned(LARGEST);
    assertThat(ledger.exposedBytes()).isEqualTo(first.window() + second.window());
  }

  @Test
  void returningMoreThanWasReceivedIsRefused() {
    CreditLine line = new CreditLedger(SETTINGS).open();
    assertThatThrownBy(() -> line.returned(1)).hasMessageContaining("0 of 0");
  }

  @Test
  void aBudgetThatCannotServeAllConnectionsNamesWhatWould() {
    assertThatThrownBy(() -> new CreditSettings(1 << 20, 4 << 10, 1 << 20, LARGEST, 64))
        .hasMessageContaining("set at least 1572864");
  }
}
