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
import java.util.function.Function;
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
    this(door, eachOfItsLoop());
  }

  /**
   * As each broker has it, but for who decides when long frames are decoded.
   *
   * @param turns those of an event loop
   */
  Connections(Door door, Function<EventLoop, DecodeTurns> turns) {
    this.door = door;
    this.turns = turns;
    this.places = new ConnectionPlaces(door.settings().counts().connections(), System::nanoTime);
  }

  /** One for each event loop; a task that is scheduled waits until the loop has read once more. */
  private static Function<EventLoop, DecodeTurns> eachOfItsLoop() {
    Map<EventLoop, DecodeTurns> all = new ConcurrentHashMap<>();
    return loop ->
        all.computeIfAbsent(
            loop, of -> new DecodeTurns(task -> of.schedule(task, 0, TimeUnit.NANOSECONDS)));
  }

  @Override
  protected void initChannel(Channel channel) {
    ConnectionSettings settings = door.settings();
    open.add(channel);
    Channel gone = places.arrive(channel, address(channel));
    channel // after it has arrived: one that is closed already leaves at once
        .closeFuture()
        .addListener(
            closed -> {
              open.remove(channel);
              places.leave(channel);
            });
    channel.pipeline().addLast(FrameEncoder.INSTANCE);
    if (gone != null) {
      gone.eventLoop().execute(() -> end(gone, FaultCode.LIMIT_REACHED, CROWDED));
    }
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
        new ClientConnection(channel, door, places, decoder, gate, peerLog, nextId());
    channel.pipeline().addFirst(new Heartbeats(settings.patience().heartbeatMillis()));
    channel.pipeline().addFirst(connection.stallWatch());
    channel.pipeline().addLast(gate, decoder, connection);
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
      channel
          .eventLoop()
          .execute(
              () -> {
                ClientConnection connection = channel.pipeline().get(ClientConnection.class);
                if (connection != null) {
                  connection.endOf(userName, why);
                }
              });
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
