// Client of the pod log API of kube-apiserver. It classifies error responses.
import { StatusError } from '../../../../apis/meta/v1/errors.ts';
import type { ClusterClient } from '../../../cluster/connection/client.ts';
import { readError } from '../../../cluster/connection/response-body.ts';
import { StalledError, type UpstreamResponse } from '../../../upstream/upstream-response.ts';
import type { Instant } from '../../store/log-store.ts';
import type { ContainerLog, ContainerName } from './container-log.ts';
import { sinceTime } from './kubelet-time.ts';

export interface LogRequest {
  readonly log: ContainerName & Pick<ContainerLog, 'previous'>;
  /** Time of the first line; undefined for the whole log. The response can contain earlier lines. */
  readonly since: Instant | undefined;
  readonly follow?: boolean;
  readonly limitBytes?: number | undefined;
  /** Number of lines from the end. */
  readonly tailLines?: number | undefined;
  readonly signal: AbortSignal;
  /** Timeout of the response headers, in ms. */
  readonly timeoutMs: number;
}

/**
 * - `empty`: the container has no log yet.
 * - `gone`: the pod or its log is deleted.
 * - `forbidden`: the server has no permission for pods/log.
 * - `unreachable`: no connection to kube-apiserver.
 * - `silent`: timeout without data from the kubelet.
 * - `failed`: any other error.
 */
type LogErrorKind = 'empty' | 'gone' | 'forbidden' | 'unreachable' | 'silent' | 'failed';

export class LogReadError extends Error {
  override readonly name = 'LogReadError';
  readonly kind: LogErrorKind;

  constructor(kind: LogErrorKind, cause: unknown) {
    super(`cannot read the log: ${kind}`, { cause });
    this.kind = kind;
  }
}

/** Sends the request and returns the response with an unread body. Throws LogReadError, or the reason of the signal. */
export async function openLog(client: ClusterClient, request: LogRequest): Promise<UpstreamResponse> {
  const { signal, timeoutMs } = request;
  let response: UpstreamResponse;
  try {
    response = await client.open({ path: pathOf(request), crowd: 'logs', signal, timeoutMs });
    if (response.statusCode === 200) return response;
    // kube-apiserver returns 204 for a pod that is not scheduled.
    if (response.statusCode === 204) response.destroy();
    else throw await readError(response);
  } catch (error) {
    signal.throwIfAborted();
    throw new LogReadError(kindOf(error), error);
  }
  throw new LogReadError('empty', undefined);
}

function pathOf({ log, since, follow, limitBytes, tailLines }: LogRequest): string {
  const query = new URLSearchParams({
    container: log.container,
    timestamps: 'true',
    ...(log.previous ? { previous: 'true' } : {}),
    ...(follow ? { follow: 'true' } : {}),
    ...(since === undefined ? {} : { sinceTime: sinceTime(since) }),
    ...(limitBytes === undefined ? {} : { limitBytes: String(limitBytes) }),
    ...(tailLines === undefined ? {} : { tailLines: String(tailLines) }),
  });
  const [namespace, pod] = [log.namespace, log.pod].map(encodeURIComponent);
  return `/api/v1/namespaces/${namespace}/pods/${pod}/log?${query.toString()}`;
}

/** Error messages of the kubelet (kubelet_pods.go) and of KWOK for a container without a log. */
const NO_LOG_YET =
  /waiting to start|is not available|is terminated|not found|no logs found|no logs available|target not found/;

function kindOf(error: unknown): LogErrorKind {
  if (!(error instanceof StatusError)) return 'failed';
  switch (error.code) {
    case 400:
      return NO_LOG_YET.test(error.message) ? 'empty' : 'gone';
    case 401:
    case 403:
      return 'forbidden';
    case 404:
      return 'gone';
    default:
      // Only connection errors have a cause; errors in a response of kube-apiserver have none.
      if (!(error.cause instanceof Error)) return 'failed';
      return error.cause instanceof StalledError ? 'silent' : 'unreachable';
  }
}
