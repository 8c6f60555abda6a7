// An attempt to sign in with a form: who sends it, for which client, and how the audit log names it.
import type { IncomingMessage } from 'node:http';
import { networkCaller } from '../../../admission/network.ts';
import type { CallContext } from '../../../cluster/call-context.ts';
import type { RequestContext } from '../../../request/request-context.ts';
import type { SourceAddress } from '../../../request/source-address.ts';
import type { LoginOrigin } from '../../passwords/login-records.ts';

export interface FormAttempt extends CallContext, LoginOrigin {
  /** The network of the browser. */
  readonly caller: string;
}

/** `client`: none on pages of this server. */
export function formAttempt(context: RequestContext, sourceOf: SourceAddress, client = ''): FormAttempt {
  const origin = originOf(context.request, sourceOf);
  return {
    ...origin,
    client,
    requestID: context.auditID,
    caller: networkCaller(origin.source),
    signal: context.signal,
  };
}

export function originOf(
  request: IncomingMessage,
  sourceOf: SourceAddress,
): Pick<LoginOrigin, 'source' | 'userAgent'> {
  return { source: sourceOf(request), userAgent: request.headers['user-agent'] ?? '' };
}
