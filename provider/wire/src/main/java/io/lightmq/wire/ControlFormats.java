package io.lightmq.wire;

import io.lightmq.wire.entry.DestinationKind;
import io.lightmq.wire.entry.DestinationName;
import io.lightmq.wire.entry.FaultCode;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.Map;

/** The fields of the frames around messages: handshake, link, sessions, administration. */
final class ControlFormats {
  private ControlFormats() {}

  static void addTo(FrameFormats table) {
    handshake(table);
    link(table);
    sessionsAndProducers(table);
    consumers(table);
    temporaries(table);
    administration(table);
  }

  private static void handshake(FrameFormats table) {
    table.add(
        FrameType.HELLO,
        Frame.Hello.class,
        (out, f) -> {
          out.varint(f.minVersion());
          out.varint(f.maxVersion());
          out.bits64(f.features());
          out.text(f.product());
        },
        (in, c) -> new Frame.Hello(in.varint(), in.varint(), in.bits64(), in.text()));
    table.add(
        FrameType.WELCOME,
        Frame.Welcome.class,
        (out, f) -> {
          out.varint(f.version());
          out.bits64(f.features());
          out.uuid(f.storeId());
          out.varint(f.maxFrameBytes());
          out.varint(f.maxMessageBytes());
          out.varint(f.maxTransactionBytes());
          out.varint(f.heartbeatMillis());
        },
        (in, c) ->
            new Frame.Welcome(
                in.varint(),
                in.bits64(),
                in.uuid(),
                in.varint(),
                in.varint(),
                in.varint(),
                in.varint()));
    table.add(
        FrameType.AUTH_START,
        Frame.AuthStart.class,
        (out, f) -> {
          out.text(f.mechanism());
          out.bytes(f.data());
        },
        (in, c) -> new Frame.AuthStart(in.text(), in.bytes()));
    table.add(
        FrameType.AUTH_CHALLENGE,
        Frame.AuthChallenge.class,
        (out, f) -> out.bytes(f.data()),
        (in, c) -> new Frame.AuthChallenge(in.bytes()));
    table.add(
        FrameType.AUTH_RESPONSE,
        Frame.AuthResponse.class,
        (out, f) -> out.bytes(f.data()),
        (in, c) -> new Frame.AuthResponse(in.bytes()));
    table.add(
        FrameType.AUTH_DONE,
        Frame.AuthDone.class,
        (out, f) -> {
          out.bytes(f.data());
          out.varint(f.connectionId());
          out.text(f.userName());
        },
        (in, c) -> new Frame.AuthDone(in.bytes(), in.varlong(), in.text()));
  }

  private static void link(FrameFormats table) {
    table.add(
        FrameType.ATTACH,
        Frame.Attach.class,
        (out, f) -> {
          out.uuid(f.linkId());
          out.varint(f.linkEpoch());
          out.varint(f.answersFrom());
          out.optionalText(f.clientId());
        },
        (in, c) -> new Frame.Attach(c, in.uuid(), in.varlong(), in.varlong(), in.optionalText()));
    table.add(
        FrameType.ATTACHED,
        Frame.Attached.class,
        (out, f) -> {
          out.varint(f.last());
          out.list(
              f.outcomes(),
              (o, outcome) -> {
                o.varint(outcome.number());
                o.varint(outcome.code().code());
                o.text(outcome.text());
              });
          out.varint(f.creditBytes());
          if (f.knownSince() != Frame.Attached.UNTOLD) {
            out.varint(f.knownSince());
          }
        },
        (in, c) ->
            new Frame.Attached(
                c,
                in.varlong(),
                in.list(
                    "outcomes",
                    3,
                    i -> new Frame.NumberedOutcome(i.varlong(), faultCode(i), i.text())),
                in.varlong(),
                in.remaining() == 0 ? Frame.Attached.UNTOLD : in.varlong()));
    table.add(
        FrameType.SET_CLIENT_ID,
        Frame.SetClientId.class,
        (out, f) -> out.text(f.clientId()),
        (in, c) -> new Frame.SetClientId(c, in.text()));
    table.add(FrameType.OK, Frame.Ok.class, (out, f) -> {}, (in, c) -> new Frame.Ok(c));
    table.add(
        FrameType.FAULT, Frame.Fault.class, ControlFormats::writeFault, ControlFormats::readFault);
    table.add(
        FrameType.GOODBYE,
        Frame.Goodbye.class,
        (out, f) -> {
          out.varint(f.code().code());
          out.text(f.text());
        },
        (in, c) -> new Frame.Goodbye(faultCode(in), in.text()));
    table.add(
        FrameType.HEARTBEAT,
        Frame.Heartbeat.class,
        (out, f) -> {},
        (in, c) -> new Frame.Heartbeat());
  }

  private static void sessionsAndProducers(FrameFormats table) {
    table.add(
        FrameType.OPEN_SESSION,
        Frame.OpenSession.class,
        (out, f) -> out.varint(f.sessionId()),
        (in, c) -> new Frame.OpenSession(c, in.varint()));
    table.add(
        FrameType.CLOSE_SESSION,
        Frame.CloseSession.class,
        (out, f) -> out.varint(f.sessionId()),
        (in, c) -> new Frame.CloseSession(c, in.varint()));
    table.add(
        FrameType.ATTACH_PRODUCER,
        Frame.AttachProducer.class,
        (out, f) -> {
          out.varint(f.producerId());
          out.varint(f.sessionId());
          writeDestination(out, f.destination());
        },
        (in, c) -> new Frame.AttachProducer(c, in.varint(), in.varint(), readDestination(in)));
    table.add(
        FrameType.PRODUCER_ATTACHED,
        Frame.ProducerAttached.class,
        (out, f) -> out.varint(f.destinationId()),
        (in, c) -> new Frame.ProducerAttached(c, in.varlong()));
    table.add(
        FrameType.DETACH_PRODUCER,
        Frame.DetachProducer.class,
        (out, f) -> out.varint(f.producerId()),
        (in, c) -> new Frame.DetachProducer(in.varint()));
  }

  private static void consumers(FrameFormats table) {
    table.add(
        FrameType.ATTACH_CONSUMER,
        Frame.AttachConsumer.class,
        (out, f) -> {
          out.varint(f.consumerId());
          out.varint(f.sessionId());
          writeDestination(out, f.destination());
          out.u8(subscribeCode(f.subscribe()));
          out.optionalText(f.subscription());
          out.optionalText(f.selector());
          out.flag(f.noLocal());
          out.flag(f.noAcknowledge());
        },
        (in, c) ->
            new Frame.AttachConsumer(
                c,
                in.varint(),
                in.varint(),
                readDestination(in),
                readSubscribe(in),
                in.optionalText(),
                in.optionalText(),
                in.flag(),
                in.flag()));
    table.add(
        FrameType.CONSUMER_ATTACHED,
        Frame.ConsumerAttached.class,
        (out, f) -> out.varint(f.destinationId()),
        (in, c) -> new Frame.ConsumerAttached(c, in.varlong()));
    table.add(
        FrameType.DETACH_CONSUMER,
        Frame.DetachConsumer.class,
        (out, f) -> out.varint(f.consumerId()),
        (in, c) -> new Frame.DetachConsumer(c, in.varint()));
    table.add(
        FrameType.UNSUBSCRIBE,
        Frame.Unsubscribe.class,
        (out, f) -> out.text(f.subscription()),
        (in, c) -> new Frame.Unsubscribe(c, in.text()));
  }

  private static void temporaries(FrameFormats table) {
    table.add(
        FrameType.CREATE_TEMPORARY,
        Frame.CreateTemporary.class,
        (out, f) -> {
          out.u8(f.kind().code());
          if (f.number() != 0) {
            out.varint(f.number());
          }
        },
        (in, c) -> new Frame.CreateTemporary(c, DestinationKind.of(in.u8()), readNumber(in)));
    table.add(
        FrameType.TEMPORARY_CREATED,
        Frame.TemporaryCreated.class,
        (out, f) -> writeDestination(out, f.destination()),
        (in, c) -> new Frame.TemporaryCreated(c, readDestination(in)));
    table.add(
        FrameType.DELETE_TEMPORARY,
        Frame.DeleteTemporary.class,
        (out, f) -> writeDestination(out, f.destination()),
        (in, c) -> new Frame.DeleteTemporary(c, readDestination(in)));
  }

  private static void administration(FrameFormats table) {
    table.add(
        FrameType.ADMIN,
        Frame.Admin.class,
        (out, f) -> {
          out.text(f.verb());
          out.list(
              new ArrayList<>(f.arguments().entrySet()),
              (o, argument) -> {
                o.text(argument.getKey());
                o.text(argument.getValue());
              });
        },
        (in, c) -> {
          String verb = in.text();
          Map<String, String> arguments = new LinkedHashMap<>();
          for (Map.Entry<String, String> each :
              in.list("arguments", 2, Protocol.MAX_ARGUMENTS, i -> Map.entry(i.text(), i.text()))) {
            if (arguments.put(each.getKey(), each.getValue()) != null) {
              throw ProtocolException.bad("argument " + each.getKey() + " is there twice");
            }
          }
          return new Frame.Admin(c, verb, arguments);
        });
    table.add(
        FrameType.ADMIN_RESULT,
        Frame.AdminResult.class,
        (out, f) -> out.text(f.json()),
        (in, c) -> new Frame.AdminResult(c, in.text()));
  }

  // ---- fields of features: at the end of a frame, left out where not agreed ----

  private static long readNumber(FrameReader in) {
    if (in.remaining() == 0) {
      return 0;
    }
    long number = in.varlong();
    if (number == 0) {
      throw ProtocolException.bad("the numbers of a link's temporary destinations begin with 1");
    }
    return number;
  }

  // ---- parts of several frames ----

  private static void writeDestination(FrameWriter out, DestinationName destination) {
    out.u8(destination.kind().code());
    out.text(destination.name());
  }

  private static DestinationName readDestination(FrameReader in) {
    return new DestinationName(DestinationKind.of(in.u8()), in.text());
  }

  private static int subscribeCode(Frame.Subscribe subscribe) {
    return switch (subscribe) {
      case QUEUE -> 0;
      case PLAIN -> 1;
      case SHARED -> 2;
      case DURABLE -> 3;
      case SHARED_DURABLE -> 4;
      case BROWSE -> 5;
    };
  }

  private static Frame.Subscribe readSubscribe(FrameReader in) {
    int code = in.u8();
    return switch (code) {
      case 0 -> Frame.Subscribe.QUEUE;
      case 1 -> Frame.Subscribe.PLAIN;
      case 2 -> Frame.Subscribe.SHARED;
      case 3 -> Frame.Subscribe.DURABLE;
      case 4 -> Frame.Subscribe.SHARED_DURABLE;
      case 5 -> Frame.Subscribe.BROWSE;
      default ->
          throw ProtocolException.bad("subscribe code " + code + " is unknown; known are 0 to 5");
    };
  }

  static FaultCode faultCode(FrameReader in) {
    return FaultCode.of(in.varint());
  }

  static void writeFault(FrameWriter out, Frame.Fault fault) {
    out.varint(fault.code().code());
    out.text(fault.text());
    out.varint(fault.retryAfterMillis());
  }

  static Frame.Fault readFault(FrameReader in, int correlation) {
    return new Frame.Fault(correlation, faultCode(in), in.text(), in.varint());
  }
}
