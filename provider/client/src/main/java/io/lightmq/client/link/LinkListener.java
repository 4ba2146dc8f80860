package io.lightmq.client.link;

import io.lightmq.wire.Frame;

/** What a link tells its connection. All methods run on the link's thread and must not block. */
public interface LinkListener {
  /** Messages for a consumer. The buffer belongs to the link: read it before returning. */
  void delivered(Frame.Deliver delivery);

  /** A pull that ended without a message. */
  void pullEnded(Frame.PullEnd end);

  /** The connection is lost: what was delivered and not acknowledged is back in the broker. */
  void lost(LinkException cause);

  /** Everything is open again on a new connection; consumers have to pull anew. */
  void restored();

  /** The link has ended for good; nothing works any more. */
  void failed(LinkException cause);
}
