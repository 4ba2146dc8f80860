package io.lightmq.client.fault;

import io.lightmq.wire.entry.FaultCode;
import jakarta.jms.IllegalStateException;
import jakarta.jms.IllegalStateRuntimeException;
import jakarta.jms.InvalidClientIDException;
import jakarta.jms.InvalidClientIDRuntimeException;
import jakarta.jms.InvalidDestinationException;
import jakarta.jms.InvalidDestinationRuntimeException;
import jakarta.jms.InvalidSelectorException;
import jakarta.jms.InvalidSelectorRuntimeException;
import jakarta.jms.JMSException;
import jakarta.jms.JMSRuntimeException;
import jakarta.jms.JMSSecurityException;
import jakarta.jms.JMSSecurityRuntimeException;
import jakarta.jms.MessageEOFException;
import jakarta.jms.MessageFormatException;
import jakarta.jms.MessageFormatRuntimeException;
import jakarta.jms.MessageNotReadableException;
import jakarta.jms.MessageNotWriteableException;
import jakarta.jms.MessageNotWriteableRuntimeException;
import jakarta.jms.ResourceAllocationException;
import jakarta.jms.ResourceAllocationRuntimeException;
import jakarta.jms.TransactionInProgressException;
import jakarta.jms.TransactionInProgressRuntimeException;
import jakarta.jms.TransactionRolledBackException;
import jakarta.jms.TransactionRolledBackRuntimeException;
import org.jspecify.annotations.Nullable;

/**
 * Makes every JMS exception of the client. Each has an error code {@code LMQ-<n>}: below 100 the
 * broker's {@link FaultCode}, from 100 on the client's own.
 */
public final class JmsFaults {
  private static final int ILLEGAL_STATE = 100;
  private static final int CLOSED = 101;
  private static final int FORMAT = 102;
  private static final int NOT_READABLE = 103;
  private static final int NOT_WRITEABLE = 104;
  private static final int END_OF_BODY = 105;
  private static final int INVALID_ARGUMENT = 106;
  private static final int INTERRUPTED = 107;
  private static final int SETTINGS = 108;
  private static final int POOL_FAILED = 109;
  private static final int NOT_TRUSTED = 111;
  private static final int TRANSACTION_IN_PROGRESS = 112;

  private JmsFaults() {}

  private static String code(int number) {
    return "LMQ-" + number;
  }

  /** What became of a request to the broker. */
  public static JMSException of(FaultCode fault, String text, @Nullable Throwable cause) {
    String code = code(fault.code());
    JMSException made =
        switch (fault) {
          case AUTHENTICATION_FAILED, NOT_AUTHORIZED -> new JMSSecurityException(text, code);
          case CLIENT_ID_IN_USE -> new InvalidClientIDException(text, code);
          case INVALID_DESTINATION, DESTINATION_GONE, NOT_OWNER, INVALID_SUBSCRIPTION ->
              new InvalidDestinationException(text, code);
          case INVALID_SELECTOR -> new InvalidSelectorException(text, code);
          case TRANSACTION_ROLLED_BACK -> new TransactionRolledBackException(text, code);
          case TOO_LARGE,
              LIMIT_REACHED,
              RETRY_LATER,
              TRANSACTION_TOO_LARGE,
              DISK_FULL,
              MEMORY_FULL ->
              new ResourceAllocationException(text, code);
          default -> new JMSException(text, code);
        };
    return withCause(made, cause);
  }

  /** Whether an exception of {@link #of} has this code. */
  public static boolean isOf(FaultCode fault, JMSException e) {
    return code(fault.code()).equals(e.getErrorCode());
  }

  private static <E extends JMSException> E withCause(E made, @Nullable Throwable cause) {
    if (cause != null) {
      made.initCause(cause);
      if (cause instanceof Exception exception) {
        made.setLinkedException(exception);
      }
    }
    return made;
  }

  /** A call that the object's state forbids. */
  public static IllegalStateException illegalState(String text) {
    return new IllegalStateException(text, code(ILLEGAL_STATE));
  }

  /** A call on a session whose transactions somebody else decides. */
  public static TransactionInProgressException transactionInProgress(String call) {
    return new TransactionInProgressException(
        call + " is not allowed: the session's work is decided through its XAResource",
        code(TRANSACTION_IN_PROGRESS));
  }

  /** A call on something that is closed. */
  public static IllegalStateException closed(String what) {
    return new IllegalStateException("the " + what + " is closed", code(CLOSED));
  }

  /** A value that does not fit. */
  public static MessageFormatException format(String text) {
    return new MessageFormatException(text, code(FORMAT));
  }

  /** A body or message that cannot be read at all. */
  public static MessageFormatException format(String text, Throwable cause) {
    return withCause(new MessageFormatException(text, code(FORMAT)), cause);
  }

  /** A body that is still being written. */
  public static MessageNotReadableException notReadable() {
    return new MessageNotReadableException(
        "the body is write-only; call reset() or send the message first", code(NOT_READABLE));
  }

  /** A body or properties that are read-only. */
  public static MessageNotWriteableException notWriteable(String what) {
    return new MessageNotWriteableException(
        "the "
            + what
            + " of a received message "
            + (what.equals("properties") ? "are" : "is")
            + " read-only; call clear"
            + capital(what)
            + "()",
        code(NOT_WRITEABLE));
  }

  private static String capital(String what) {
    return what.equals("properties") ? "Properties" : "Body";
  }

  /** The end of a stream or bytes body. */
  public static MessageEOFException endOfBody(String text) {
    return new MessageEOFException(text, code(END_OF_BODY));
  }

  /** A destination that cannot be used. */
  public static InvalidDestinationException invalidDestination(String text) {
    return new InvalidDestinationException(text, code(FaultCode.INVALID_DESTINATION.code()));
  }

  /** An argument out of range. */
  public static JMSException invalidArgument(String text) {
    return new JMSException(text, code(INVALID_ARGUMENT));
  }

  /** A client id that cannot be used. */
  public static InvalidClientIDException invalidClientId(String text) {
    return new InvalidClientIDException(text, code(FaultCode.CLIENT_ID_IN_USE.code()));
  }

  /** What the application gives cannot be used. */
  public static JMSException settings(String text) {
    return new JMSException(text, code(SETTINGS));
  }

  /** A wrong URI or option. */
  public static JMSException settings(String text, Throwable cause) {
    return withCause(new JMSException(text, code(SETTINGS)), cause);
  }

  /** An application server's pool that has thrown what is no JMS exception. */
  public static JMSException poolFailed(String text, Throwable cause) {
    return withCause(new JMSException(text, code(POOL_FAILED)), cause);
  }

  /** A class that the allow-list of ObjectMessage does not name. */
  public static JMSException notTrusted(String text, Throwable cause) {
    return withCause(new MessageFormatException(text, code(NOT_TRUSTED)), cause);
  }

  /** A wait that was interrupted; the thread's interrupt status is set again. */
  public static JMSException interrupted(String what, InterruptedException cause) {
    Thread.currentThread().interrupt();
    return withCause(
        new JMSException("interrupted while waiting for " + what, code(INTERRUPTED)), cause);
  }

  /** The unchecked form that the simplified API throws. */
  public static JMSRuntimeException unchecked(JMSException e) {
    String text = String.valueOf(e.getMessage());
    String code = e.getErrorCode();
    if (e instanceof IllegalStateException) {
      return new IllegalStateRuntimeException(text, code, e);
    } else if (e instanceof InvalidClientIDException) {
      return new InvalidClientIDRuntimeException(text, code, e);
    } else if (e instanceof InvalidDestinationException) {
      return new InvalidDestinationRuntimeException(text, code, e);
    } else if (e instanceof InvalidSelectorException) {
      return new InvalidSelectorRuntimeException(text, code, e);
    } else if (e instanceof JMSSecurityException) {
      return new JMSSecurityRuntimeException(text, code, e);
    } else if (e instanceof MessageFormatException) {
      return new MessageFormatRuntimeException(text, code, e);
    } else if (e instanceof MessageNotWriteableException) {
      return new MessageNotWriteableRuntimeException(text, code, e);
    } else if (e instanceof ResourceAllocationException) {
      return new ResourceAllocationRuntimeException(text, code, e);
    } else if (e instanceof TransactionInProgressException) {
      return new TransactionInProgressRuntimeException(text, code, e);
    } else if (e instanceof TransactionRolledBackException) {
      return new TransactionRolledBackRuntimeException(text, code, e);
    }
    return new JMSRuntimeException(text, code, e);
  }
}
