package io.lightmq.core.transaction;

import io.lightmq.wire.entry.FaultCode;

/** Why a numbered run or commit of a link was refused. */
public record Outcome(long number, FaultCode code, String text) {}
