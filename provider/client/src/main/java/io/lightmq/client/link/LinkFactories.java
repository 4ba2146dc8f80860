package io.lightmq.client.link;

import io.lightmq.wire.entry.FaultCode;
import java.io.IOException;
import java.util.ServiceConfigurationError;
import java.util.ServiceLoader;

/** Chooses the factory for a URI's scheme. */
final class LinkFactories {
  private static final LinkFactory TCP = new TcpLinkFactory();

  private LinkFactories() {}

  static Endpoint open(ClientUri uri) throws LinkException {
    try {
      return find(uri).open(uri);
    } catch (IOException e) {
      throw new LinkException(
          FaultCode.BROKER_FAILED,
          "the broker " + uri + " could not be started: " + e.getMessage(),
          e);
    }
  }

  private static LinkFactory find(ClientUri uri) throws LinkException {
    if (TCP.handles(uri.scheme())) {
      return TCP;
    }
    try {
      for (ClassLoader loader :
          new ClassLoader[] {
            Thread.currentThread().getContextClassLoader(), LinkFactory.class.getClassLoader()
          }) {
        for (LinkFactory factory : ServiceLoader.load(LinkFactory.class, loader)) {
          if (factory.handles(uri.scheme())) {
            return factory;
          }
        }
      }
    } catch (ServiceConfigurationError e) {
      throw new LinkException(
          FaultCode.BAD_REQUEST, "a LinkFactory on the class path is broken: " + e.getMessage(), e);
    }
    throw new LinkException(
        FaultCode.BAD_REQUEST,
        uri.scheme().equals("lightmqs")
            ? "lightmqs:// (TLS) is not available in this version; use lightmq://"
            : uri + " needs the artifact io.lightmq:lightmq-embedded on the class path");
  }
}
