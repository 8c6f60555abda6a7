// Error messages that the kubelet writes into the body of a log response.
import { LogReadError } from './log-request.ts';

/** Message of the kubelet (kuberuntime_container.go) for a deleted container, for instance of an evicted pod. */
const NO_CONTAINER = /^unable to retrieve container logs for /;

const MAX_MESSAGE_LENGTH = 300;

/** An error message that the kubelet wrote into the body of a response; the cause of a LogReadError. */
export class KubeletError extends Error {
  override readonly name = 'KubeletError';

  constructor(message: string) {
    super(`kubelet: ${message.slice(0, MAX_MESSAGE_LENGTH)}`);
  }
}

export function newKubeletError(message: string): LogReadError {
  return new LogReadError(NO_CONTAINER.test(message) ? 'gone' : 'failed', new KubeletError(message));
}
