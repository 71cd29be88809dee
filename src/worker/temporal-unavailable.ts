/** Whether an error says that the Temporal server could not be asked, and nothing about what it was asked. */
import { isGrpcServiceError, WorkflowUpdateRPCTimeoutOrCancelledError } from '@temporalio/client';
import { causesOf } from '../core/error-chain.ts';

/** gRPC's CANCELLED, DEADLINE_EXCEEDED and UNAVAILABLE: who asked gave up, or nobody answered. */
const CODES = new Set([1, 4, 14]);

export function isTemporalAway(error: unknown): boolean {
  return causesOf(error).some(
    (cause) =>
      cause instanceof WorkflowUpdateRPCTimeoutOrCancelledError ||
      (isGrpcServiceError(cause) && CODES.has(cause.code)),
  );
}
