// Client of the pod log API of kube-apiserver. It classifies error responses.
import { StatusError } from '../../../../apis/meta/v1/errors.ts';
import { record, recordIn, text } from '../../../../apis/reading/unknown-value.ts';
import type { ClusterClient } from '../../../cluster/connection/client.ts';
import { readError } from '../../../cluster/connection/response-body.ts';
import { StalledError, type UpstreamResponse } from '../../../upstream/upstream-response.ts';
import type { Instant } from '../../store/log-store.ts';
import type { ContainerLog, ContainerName } from './container-log.ts';
import { sinceTime } from './kubelet-time.ts';

export interface LogRequest {
  readonly log: ContainerName & Pick<ContainerLog, 'previous'>;
  /** UID of the pod. If it is set, the log of a later pod of the same name is `gone`. */
  readonly podUID?: string | undefined;
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

/**
 * Throws LogReadError if a response that has begun can have the log of a later pod: kube-apiserver finds the pod by its
 * name only. A UID that is still the current one was the current one when the response began.
 */
export async function confirmPod(
  client: ClusterClient,
  { log, podUID, signal }: Pick<LogRequest, 'log' | 'podUID' | 'signal'>,
): Promise<void> {
  if (podUID === undefined) return;
  let uid: string | undefined;
  try {
    uid = await currentUID(client, log, signal);
  } catch (error) {
    signal.throwIfAborted();
    throw new LogReadError(kindOf(error), error);
  }
  if (uid !== undefined && uid !== podUID) throw new LogReadError('gone', new Error('the pod was replaced'));
}

/** Requests the UID of the pod as a list, because the server needs no permission to get pods; undefined without the pod. */
async function currentUID(
  client: ClusterClient,
  { namespace, pod }: ContainerName,
  signal: AbortSignal,
): Promise<string | undefined> {
  const query = new URLSearchParams({ fieldSelector: `metadata.name=${pod}` });
  const path = `/api/v1/namespaces/${encodeURIComponent(namespace)}/pods?${query.toString()}`;
  const headers = { accept: 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1' };
  const { items } = record(await client.json({ path, headers, signal }));
  if (!Array.isArray(items)) throw new TypeError('the response is not a list of pods');
  const [found] = items as unknown[];
  return found === undefined ? undefined : text(recordIn(found, 'metadata')['uid']);
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
