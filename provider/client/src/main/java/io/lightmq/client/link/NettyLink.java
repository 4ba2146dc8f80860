package io.lightmq.client.link;

import io.lightmq.client.link.LinkStatus.Phase;
import io.lightmq.client.link.Requests.OnLoss;
import io.lightmq.wire.Frame;
import io.lightmq.wire.FrameCodec;
import io.lightmq.wire.Protocol;
import io.lightmq.wire.entry.Branch;
import io.lightmq.wire.entry.BranchDecision;
import io.lightmq.wire.entry.DestinationKind;
import io.lightmq.wire.entry.DestinationName;
import io.lightmq.wire.entry.FaultCode;
import io.lightmq.wire.entry.Xid;
import io.netty.channel.Channel;
import io.netty.channel.EventLoop;
import java.net.SocketAddress;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BooleanSupplier;
import java.util.function.IntFunction;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A link over Netty channels, one at a time. All its state but the outbox's door lives on one event
 * loop; public methods hand over to it.
 */
@SuppressWarnings("FutureReturnValueIgnored") // what fails ends the link, which tells
final class NettyLink implements BrokerLink, Tries.Link, Reconnecting.Link {
  private static final Logger LOG = LoggerFactory.getLogger(NettyLink.class);
  private static final long CLOSE_MILLIS = 2_000;

  private final LinkSettings settings;
  private final LinkListener listener;
  private final Endpoint endpoint;
  private final EventLoop loop;
  private final UUID id = UUID.randomUUID();
  private final Requests requests;
  private final Publishing publishing;
  private final LinkWriter writer;
  private final Asking asking;
  private final Places places;
  private final LinkTransactions transactions;
  private final OpenThings things = new OpenThings();
  private final Opening opening;
  private final Backoff backoff;
  private final Tries tries;
  private final Story story = new Story();
  private final Reconnecting reconnecting;
  private final AtomicBoolean closed = new AtomicBoolean();
  private volatile @Nullable Thread computing;
  private volatile Limits limits = new Limits(4 << 20, 1 << 20, false);
  private volatile Owner owner = new Owner(new UUID(0, 0), "");

  private Phase state = Phase.CONNECTING;
  private @Nullable String clientId;
  private long linkEpoch;

  /** The address of the newest connection. */
  private String broker = "none yet";

  /** Whether the broker has done something useful since the link is open. */
  private boolean answered;

  private NettyLink(LinkSettings settings, LinkListener listener, Endpoint endpoint) {
    this.settings = settings;
    this.listener = listener;
    this.endpoint = endpoint;
    this.loop = endpoint.group().next();
    this.clientId = settings.clientId();
    this.writer = new LinkWriter(loop);
    this.requests =
        new Requests(loop, settings.timeouts().requestMillis(), writer::write, writer::isIdle);
    this.asking = new Asking(loop, requests, () -> state == Phase.OPEN, () -> state == Phase.ENDED);
    this.places = new Places(asking);
    this.publishing =
        new Publishing(
            settings, loop, io.netty.buffer.PooledByteBufAllocator.DEFAULT, writer::write);
    this.transactions = new LinkTransactions(asking, publishing);
    this.opening =
        new Opening(asking, things, publishing, writer, settings.timeouts().requestMillis());
    this.backoff = new Backoff(settings.reconnect());
    this.tries = new Tries(settings, endpoint, loop, backoff, this);
    this.reconnecting = new Reconnecting(settings, endpoint, loop, backoff, tries, story, this);
  }

  static BrokerLink open(LinkSettings settings, LinkListener listener) throws LinkException {
    return open(settings, listener, LinkFactories.open(settings.uri()));
  }

  /** Opens a link that takes over the endpoint. */
  static BrokerLink open(LinkSettings settings, LinkListener listener, Endpoint endpoint)
      throws LinkException {
    NettyLink link;
    try {
      link = new NettyLink(settings, listener, endpoint);
    } catch (RuntimeException | LinkageError e) {
      endpoint.close();
      throw e;
    }
    try {
      new FirstConnect(settings).run(link::connectFirst);
    } catch (LinkException | RuntimeException | LinkageError e) {
      link.close();
      throw e;
    }
    return link;
  }

  private void connectFirst() throws LinkException {
    CompletableFuture<Void> opened = new CompletableFuture<>();
    List<SocketAddress> addresses = endpoint.addresses();
    try {
      loop.execute(() -> connectFirst(addresses, opened));
    } catch (RejectedExecutionException e) {
      throw new LinkException(
          FaultCode.CLOSING, settings.uri() + " was closed while it was connected to", e);
    }
    try {
      FirstConnect.await(opened, settings.uri(), settings.firstConnectMillis(addresses.size()));
    } catch (LinkException e) {
      execute(() -> giveUpFirst(e));
      throw e;
    }
  }

  // ---- connecting, on the loop ----

  private void connectFirst(List<SocketAddress> addresses, CompletableFuture<Void> opened) {
    var unused =
        tries
            .first(addresses)
            .whenComplete(
                (done, failure) -> {
                  if (failure != null) {
                    opened.completeExceptionally(failure);
                  } else if (!opened.complete(null)) {
                    giveUpFirst(Asking.ended());
                  }
                });
  }

  /** Nobody waits for this first connect any more: whatever it has come to is undone. */
  private void giveUpFirst(LinkException cause) {
    if (state != Phase.ENDED) {
      tries.giveUp();
      state = Phase.CONNECTING;
      notConnected(cause);
    }
  }

  @Override
  public void notConnected(LinkException cause) {
    writer.drop();
    things.nothingReopened();
    requests.lost(cause);
    publishing.lost(cause);
  }

  @Override
  public CompletableFuture<@Nullable Void> attach(Connector.Connected connected) {
    writer.use(connected.channel());
    broker = Connector.text(connected.channel().remoteAddress());
    things.nothingReopened();
    Frame.Welcome welcome = connected.greeting().welcome();
    things.agreed(welcome.features());
    limits =
        new Limits(
            welcome.maxMessageBytes(),
            welcome.maxTransactionBytes(),
            (welcome.features() & Protocol.TRANSACTIONS) != 0);
    owner = new Owner(welcome.storeId(), connected.greeting().userName());
    long epoch = ++linkEpoch;
    long answersFrom = publishing.attaching(epoch, limits.keepsTransactions());
    return askNow(c -> new Frame.Attach(c, id, epoch, answersFrom, clientId))
        .thenCompose(answer -> restore((Frame.Attached) answer));
  }

  private CompletableFuture<@Nullable Void> restore(Frame.Attached attached) {
    publishing.attached(attached);
    Set<Integer> neededSessions = publishing.neededSessions();
    return things
        .reopen(this::askNow, neededSessions, publishing.neededTargets())
        .thenCompose(
            gone -> {
              publishing.resume(gone, () -> things.closeSpare(neededSessions, this::askNow));
              return things.reopenConsumers(this::askNow, this::consumerLost);
            })
        .thenAccept(done -> restored());
  }

  private void restored() {
    if (writer.isIdle()) {
      // A write can fail within the call that writes, with nobody to tell but who comes after it.
      throw new CompletionException(
          new LinkException(
              FaultCode.CLOSING, "the connection was lost while it was being restored"));
    }
    boolean first = state == Phase.CONNECTING;
    state = Phase.OPEN;
    story.connected(broker);
    answered = false;
    requests.resume();
    if (!first && state == Phase.OPEN) {
      reconnecting.done();
      listener.restored();
    }
  }

  private CompletableFuture<Frame> askNow(IntFunction<Frame> frame) {
    return requests.ask(true, OnLoss.FAIL, frame);
  }

  private void consumerLost(int consumerId, LinkException cause) {
    LOG.warn("{}: a consumer could not be opened again: {}", settings.uri(), cause.getMessage());
    listener.pullEnded(new Frame.PullEnd(consumerId, 0, cause.code(), 0));
  }

  // ---- what comes, on the loop ----

  @Override
  public void connecting(Channel channel) {
    tries.connecting(channel);
  }

  @Override
  public void computing(Thread thread) {
    computing = thread;
  }

  @Override
  public void frame(Channel from, Frame frame) {
    if (!writer.uses(from)) {
      FrameCodec.release(frame);
      return;
    }
    if (state == Phase.OPEN && !answered && !isComplaint(frame)) {
      // Not before: what is sent first may be the very thing that ends each connection.
      answered = true;
      backoff.reset();
    }
    if (frame instanceof Frame.Deliver deliver) {
      try {
        listener.delivered(deliver);
      } finally {
        deliver.entries().release();
      }
    } else if (frame instanceof Frame.Receipts receipts) {
      publishing.receipts(receipts);
    } else if (frame instanceof Frame.PullDone done) {
      for (Frame.PullEnd end : done.ends()) {
        if (end.code() != FaultCode.OK && end.code() != FaultCode.RETRY_LATER) {
          things.closedConsumer(end.consumerId());
        }
        listener.pullEnded(end);
      }
    } else if (frame instanceof Frame.Credit credit) {
      publishing.credit(credit.totalBytes());
    } else if (frame instanceof Frame.Goodbye bye) {
      ended(from, new LinkException(bye.code(), "the broker said goodbye: " + bye.text()));
    } else if (frame instanceof Frame.Fault fault
        && fault.correlation() >= Requests.FIRST_RUN_CORRELATION) {
      publishing.refused(fault);
    } else if (frame instanceof Frame.Fault fault && fault.correlation() == 0) {
      LOG.warn("{}: {} {}", settings.uri(), fault.code(), fault.text());
    } else if (!(frame instanceof Frame.Heartbeat) && !requests.answered(frame)) {
      LOG.debug("{}: a late answer {}", settings.uri(), frame);
    }
  }

  private static boolean isComplaint(Frame frame) {
    return frame instanceof Frame.Goodbye || frame instanceof Frame.Fault;
  }

  @Override
  public void ended(Channel from, LinkException cause) {
    if (!writer.uses(from)) {
      return;
    }
    writer.drop();
    things.nothingReopened();
    Phase before = state;
    if (before == Phase.OPEN) {
      state = Phase.LOST;
    }
    requests.lost(cause);
    publishing.lost(cause);
    if (before != Phase.OPEN) {
      return; // whoever is connecting hears of it through the requests
    }
    story.lost(cause);
    listener.lost(cause);
    if (settings.reconnect().failover()) {
      reconnecting.begin(cause);
    } else {
      end(cause, true);
    }
  }

  @Override
  public boolean isLost() {
    return state == Phase.LOST;
  }

  @Override
  public void giveUp(LinkException cause) {
    end(cause, true);
  }

  private void end(LinkException cause, boolean failed) {
    if (state == Phase.ENDED) {
      return;
    }
    state = Phase.ENDED;
    story.ended(failed ? cause : null);
    tries.giveUp();
    publishing.fail(cause);
    requests.fail(cause);
    if (failed) {
      LOG.error("{}: the connection has failed: {}", settings.uri(), cause.getMessage());
      listener.failed(cause);
    }
  }

  // ---- asking, any thread ----

  /** Hands over to the loop; after the end nothing is done any more. */
  private void execute(Runnable task) {
    try {
      loop.execute(task);
    } catch (RejectedExecutionException e) {
      LOG.debug("{}: the loop has ended", settings.uri());
    }
  }

  // ---- the seam, any thread ----

  @Override
  public Limits limits() {
    return limits;
  }

  @Override
  public Owner owner() {
    return owner;
  }

  @Override
  public UUID id() {
    return id;
  }

  @Override
  public LinkStatus status() {
    return story.status();
  }

  @Override
  public CompletableFuture<Void> setClientId(String newId) {
    return asking
        .ok(OnLoss.RESEND, c -> new Frame.SetClientId(c, newId))
        .thenRun(() -> execute(() -> clientId = newId));
  }

  @Override
  public CompletableFuture<Integer> openSession() {
    return opening.session();
  }

  @Override
  public CompletableFuture<Void> closeSession(int sessionId) {
    return opening.closeSession(sessionId);
  }

  @Override
  public CompletableFuture<Target> openTarget(int sessionId, DestinationName destination) {
    return opening.target(sessionId, destination);
  }

  @Override
  public void closeTarget(Target target) {
    execute(() -> opening.closeTarget(target));
  }

  @Override
  public CompletableFuture<Long> openConsumer(ConsumerSpec spec) {
    return opening.consumer(spec);
  }

  @Override
  public int nextConsumerId() {
    return opening.nextId();
  }

  @Override
  public CompletableFuture<Void> closeConsumer(int consumerId) {
    return opening.closeConsumer(consumerId);
  }

  @Override
  public CompletableFuture<Void> unsubscribe(String subscription) {
    return opening.unsubscribe(subscription);
  }

  @Override
  public CompletableFuture<Temporary> createTemporary(DestinationKind kind) {
    return opening.temporary(kind);
  }

  @Override
  public CompletableFuture<Void> deleteTemporary(Temporary temporary) {
    return opening.deleteTemporary(temporary);
  }

  @Override
  public Sending publish(Target target, boolean persistent, byte[] message) throws LinkException {
    return publishing.outbox().send(target, persistent, message);
  }

  @Override
  public CompletableFuture<Void> commit(
      int sessionId,
      List<Staged> sends,
      List<Frame.Acked> acked,
      BooleanSupplier stale,
      Frame.@Nullable Part staged,
      @Nullable Xid prepared) {
    return transactions.commit(new Item.Commit(sessionId, sends, acked, staged, prepared), stale);
  }

  @Override
  public CompletableFuture<Void> decide(Xid xid, BranchDecision decision) {
    return transactions.decide(new Item.Decide(xid, decision));
  }

  @Override
  public CompletableFuture<Long> stage(
      int sessionId,
      List<Staged> sends,
      List<Frame.Acked> acked,
      BooleanSupplier stale,
      Frame.Part part) {
    return transactions.stage(sessionId, sends, acked, stale, part);
  }

  @Override
  public long nextTransaction() {
    return transactions.nextTransaction();
  }

  @Override
  public CompletableFuture<Void> abandon(Branch branch, boolean attempted) {
    return transactions.abandon(branch, attempted);
  }

  @Override
  public CompletableFuture<Frame.Recovered> recover(@Nullable Xid after) {
    return transactions.recover(after);
  }

  @Override
  public void pull(Frame.PullOne pull) {
    execute(
        () -> {
          if (state == Phase.OPEN) {
            writer.pull(pull);
          }
        });
  }

  @Override
  public void acknowledge(List<Frame.Acked> acked) {
    execute(
        () -> {
          if (state == Phase.OPEN) {
            writer.acknowledge(acked);
          }
        });
  }

  @Override
  public void begun(int sessionId, boolean alone, Supplier<List<Frame.Acked>> messages) {
    execute(
        () -> {
          List<Frame.Acked> told = messages.get();
          if (state == Phase.OPEN) {
            writer.begun(sessionId, alone, told);
          }
        });
  }

  @Override
  public CompletableFuture<Void> acknowledgeSurely(List<Frame.Acked> acked, BooleanSupplier stale) {
    return places.acknowledge(acked, stale);
  }

  @Override
  public CompletableFuture<Void> giveBack(
      List<Frame.Acked> returned,
      boolean attempted,
      @Nullable String cause,
      BooleanSupplier stale) {
    return places.giveBack(returned, attempted, cause, stale);
  }

  @Override
  public void later(long delayMillis, Runnable task) {
    try {
      loop.schedule(task, delayMillis, TimeUnit.MILLISECONDS);
    } catch (RejectedExecutionException e) {
      LOG.debug("{}: the loop has ended", settings.uri());
    }
  }

  @Override
  public void close() {
    if (!closed.compareAndSet(false, true)) {
      return;
    }
    CompletableFuture<@Nullable Void> gone = new CompletableFuture<>();
    execute(
        () -> {
          end(Asking.ended(), false);
          writer.sayGoodbye(() -> gone.complete(null));
        });
    if (!Uninterrupted.ended(gone, CLOSE_MILLIS)) {
      LOG.debug("{}: the channel did not close in {} ms", settings.uri(), CLOSE_MILLIS);
    }
    for (Thread thread : new @Nullable Thread[] {reconnecting.resolving(), computing}) {
      if (thread != null && !Uninterrupted.join(thread, CLOSE_MILLIS)) {
        LOG.debug("{}: {} still runs after {} ms", settings.uri(), thread.getName(), CLOSE_MILLIS);
      }
    }
    endpoint.close();
  }
}
