// One request of the pod log API, and what its refusals mean.
import type { IncomingMessage } from 'node:http';
import { StatusError } from '../../../../../apis/meta/v1/errors.ts';
import type { ClusterClient } from '../../../../cluster/connection/client.ts';
import { readError } from '../../../../cluster/connection/response-body.ts';
import type { Instant } from '../../../log-store.ts';
import type { LogSource } from '../pods/log-source.ts';
import { secondOf } from './kubelet-time.ts';

export interface LogRequest {
  readonly source: Pick<LogSource, 'namespace' | 'pod' | 'container' | 'previous'>;
  /** Lines of this second and later ones; undefined for all. */
  readonly since: Instant | undefined;
  readonly follow?: boolean;
  readonly limitBytes?: number;
  /** So many lines from the end. */
  readonly tailLines?: number;
  readonly signal: AbortSignal;
  /** Until the answer begins, in ms. */
  readonly timeoutMs: number;
}

/**
 * `empty`: there is no log, and never was one. `gone`: the pod or its log was removed. `refused`: we may not read
 * logs. `unreachable`: kube-apiserver does not answer. `silent`: nothing came from the kubelet in time. `failed`: it
 * did not answer as it should.
 */
export type LogFailureKind = 'empty' | 'gone' | 'refused' | 'unreachable' | 'silent' | 'failed';

export class LogFailure extends Error {
  readonly kind: LogFailureKind;

  constructor(kind: LogFailureKind, cause: unknown) {
    super(`the log cannot be read: ${kind}`, { cause });
    this.name = 'LogFailure';
    this.kind = kind;
  }
}

/** The answer with its lines unread, each with its time. Throws LogFailure, or the reason of the signal. */
export async function openLog(client: ClusterClient, request: LogRequest): Promise<IncomingMessage> {
  const { signal, timeoutMs } = request;
  let response: IncomingMessage;
  try {
    response = await client.open({ path: pathOf(request), crowd: 'logs', signal, timeoutMs });
    if (response.statusCode === 200) return response;
    // A pod without a node has no log.
    if (response.statusCode === 204) response.destroy();
    else throw await readError(response);
  } catch (error) {
    signal.throwIfAborted();
    throw new LogFailure(kindOf(error), error);
  }
  throw new LogFailure('empty', undefined);
}

function pathOf({ source, since, follow, limitBytes, tailLines }: LogRequest): string {
  const query = new URLSearchParams({
    container: source.container,
    timestamps: 'true',
    ...(source.previous ? { previous: 'true' } : {}),
    ...(follow ? { follow: 'true' } : {}),
    ...(since === undefined ? {} : { sinceTime: secondOf(since) }),
    ...(limitBytes === undefined ? {} : { limitBytes: String(limitBytes) }),
    ...(tailLines === undefined ? {} : { tailLines: String(tailLines) }),
  });
  const [namespace, pod] = [source.namespace, source.pod].map(encodeURIComponent);
  return `/api/v1/namespaces/${namespace}/pods/${pod}/log?${query.toString()}`;
}

/** In the words of the kubelet, kubelet_pods.go: containers without a log; KWOK's for pods without a rule. */
const NOTHING_YET =
  /waiting to start|is not available|is terminated|not found|no logs found|no logs available|target not found/;

function kindOf(error: unknown): LogFailureKind {
  if (!(error instanceof StatusError)) return 'failed';
  switch (error.code) {
    case 400:
      return NOTHING_YET.test(error.message) ? 'empty' : 'gone';
    case 401:
    case 403:
      return 'refused';
    case 404:
      return 'gone';
    default:
      // The client's own, when there was no connection.
      if (!(error.cause instanceof Error)) return 'failed';
      // kube-apiserver's own errors come at once.
      return /no response within/.test(error.cause.message) ? 'silent' : 'unreachable';
  }
}
