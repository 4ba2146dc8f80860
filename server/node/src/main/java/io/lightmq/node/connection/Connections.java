package io.lightmq.node.connection;

import io.lightmq.wire.FrameDecoder;
import io.lightmq.wire.FrameEncoder;
import io.lightmq.wire.FrameType;
import io.lightmq.wire.Heartbeats;
import io.lightmq.wire.entry.FaultCode;
import io.netty.channel.Channel;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoop;
import io.netty.channel.WriteBufferWaterMark;
import java.net.InetSocketAddress;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** All client connections of a broker: sets up each channel that a listener accepts. */
@SuppressWarnings("FutureReturnValueIgnored") // closing is waited for where it matters
public final class Connections extends ChannelInitializer<Channel> {
  private static final Logger log = LoggerFactory.getLogger(Connections.class);
  private static final int CLOSE_SECONDS = 5;
  private static final String CROWDED =
      "this broker has at most "
          + ConnectionPlaces.HALF_OPEN
          + " connections in their handshake at once, "
          + ConnectionPlaces.HALF_OPEN_PER_ADDRESS
          + " of one address, and newer ones have come; connect again";

  private final Door door;
  private final AtomicLong ids = new AtomicLong();
  private final Set<Channel> open = ConcurrentHashMap.newKeySet();
  private final PeerLog peerLog = new PeerLog(log, System::nanoTime);
  private final ConnectionPlaces places;
  private final Function<EventLoop, DecodeTurns> turns;

  public Connections(Door door) {
    this(door, eachOfItsLoop(), System::nanoTime);
  }

  /**
   * As each broker has it, but for who decides when long frames are decoded, and the time.
   *
   * @param turns those of an event loop
   */
  Connections(Door door, Function<EventLoop, DecodeTurns> turns, LongSupplier nanos) {
    this.door = door;
    this.turns = turns;
    this.places = new ConnectionPlaces(door.settings().counts().connections(), nanos);
  }

  /** One for each event loop; a task that is scheduled waits until the loop has read once more. */
  static Function<EventLoop, DecodeTurns> eachOfItsLoop() {
    Map<EventLoop, DecodeTurns> all = new ConcurrentHashMap<>();
    return loop ->
        all.computeIfAbsent(
            loop, of -> new DecodeTurns(task -> of.schedule(task, 0, TimeUnit.NANOSECONDS)));
  }

  @Override
  protected void initChannel(Channel channel) {
    ConnectionSettings settings = door.settings();
    open.add(channel);
    String address = address(channel);
    ConnectionPlaces.Arrival arrival = places.arrive(channel, address);
    channel // after it has arrived: one that is closed already leaves at once
        .closeFuture()
        .addListener(
            closed -> {
              open.remove(channel);
              places.leave(channel);
            });
    channel.pipeline().addLast(FrameEncoder.INSTANCE);
    soon(arrival.gone(), connection -> connection.makeRoom(CROWDED));
    soon(arrival.passed(), ClientConnection::readNow);
    channel
        .config()
        .setOption(
            ChannelOption.WRITE_BUFFER_WATER_MARK,
            new WriteBufferWaterMark(
                settings.sizes().outboundBytes() / 2, settings.sizes().outboundBytes()));
    FrameDecoder decoder = new FrameDecoder(FrameType.Sender.CLIENT);
    InboundGate gate =
        new InboundGate(
            settings.maxFrameBytes(),
            door.commits(),
            door.requests(),
            door.decoded(),
            turns.apply(channel.eventLoop()));
    ClientConnection connection =
        new ClientConnection(channel, address, door, places, decoder, gate, peerLog, nextId());
    if (arrival.waits()) {
      connection.readLater();
    }
    channel.pipeline().addFirst(new Heartbeats(settings.patience().heartbeatMillis()));
    channel.pipeline().addFirst(connection.stallWatch());
    channel.pipeline().addLast(gate, decoder, connection);
  }

  /** Does something with a connection on its own loop, if there is one. */
  private static void soon(@Nullable Channel channel, Consumer<ClientConnection> action) {
    if (channel != null) {
      channel
          .eventLoop()
          .execute(
              () -> {
                ClientConnection connection = channel.pipeline().get(ClientConnection.class);
                if (connection != null) {
                  action.accept(connection);
                }
              });
    }
  }

  private long nextId() {
    return door.epoch().getAsLong() << 32 | ids.incrementAndGet();
  }

  private static String address(Channel channel) {
    return channel.remoteAddress() instanceof InetSocketAddress inet && inet.getAddress() != null
        ? inet.getAddress().getHostAddress()
        : "";
  }

  /** Connections that are open now, those in their handshake included. */
  public int count() {
    return open.size();
  }

  /** Connections that have not said yet who they are. */
  public int halfOpen() {
    return places.halfOpen();
  }

  /** Connections that were refused for want of a place, since start. */
  public long refused() {
    return places.refused();
  }

  /** Says goodbye to all clients and waits, a few seconds at most, until they are gone. Blocks. */
  public void close(String why) {
    endAll(FaultCode.CLOSING, why);
    for (Channel channel : open) {
      if (!channel.closeFuture().awaitUninterruptibly(CLOSE_SECONDS, TimeUnit.SECONDS)) {
        channel.close().awaitUninterruptibly(1, TimeUnit.SECONDS);
      }
    }
  }

  /** Tells all clients that the broker has failed. Any thread; returns at once. */
  public void abandon(String why) {
    endAll(FaultCode.BROKER_FAILED, why);
  }

  /** Ends the connections of a user who may not be here any more. Any thread; returns at once. */
  public void endOf(String userName, String why) {
    for (Channel channel : open) {
      soon(channel, connection -> connection.endOf(userName, why));
    }
  }

  private void endAll(FaultCode code, String why) {
    for (Channel channel : open) {
      channel.eventLoop().execute(() -> end(channel, code, why));
    }
  }

  private static void end(Channel channel, FaultCode code, String why) {
    ClientConnection connection = channel.pipeline().get(ClientConnection.class);
    if (connection == null) {
      channel.close();
    } else {
      connection.end(code, why);
    }
  }
}
