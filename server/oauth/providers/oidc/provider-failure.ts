// What an error of a conversation with an OpenID provider means.
import * as openid from 'openid-client';
import { messageOf } from '../../../../apis/reading/thrown-value.ts';
import { isRecord } from '../../../../apis/reading/unknown-value.ts';
import { ProviderUnavailable, SignInRefused } from '../provider.ts';

/** Of a reason, which may contain what a browser or the provider has sent. */
const MAX_REASON = 512;

/** Distinguishes an outage of the provider from a refusal of the person. */
export function failure(error: unknown): Error {
  if (error instanceof ProviderUnavailable || error instanceof SignInRefused) return error;
  const reason = reasonOf(error);
  if (isRejected(error)) {
    return new ProviderUnavailable(`the provider rejects this server, check its credential: ${reason}`, {
      cause: error,
    });
  }
  const refused =
    error instanceof openid.AuthorizationResponseError ||
    (error instanceof openid.ResponseBodyError && error.status < 500 && error.status !== 429) ||
    (error instanceof openid.ClientError && !isOutage(error));
  return refused
    ? new SignInRefused(reason, { cause: error })
    : new ProviderUnavailable(reason, { cause: error });
}

/** The provider does not accept this server, which says nothing about the person. */
function isRejected(error: unknown): boolean {
  if (error instanceof openid.WWWAuthenticateChallengeError) return true;
  return (
    error instanceof openid.ResponseBodyError &&
    (error.error === 'invalid_client' || error.error === 'unauthorized_client')
  );
}

/** No response, or one without the OAuth format, for instance of a proxy in front of the provider. */
function isOutage({ code }: openid.ClientError): boolean {
  return (
    code === undefined ||
    code === 'OAUTH_RESPONSE_IS_NOT_CONFORM' ||
    code === 'OAUTH_RESPONSE_IS_NOT_JSON' ||
    code === 'OAUTH_PARSE_ERROR' ||
    code === 'OAUTH_TIMEOUT' ||
    code === 'OAUTH_ABORT'
  );
}

/** The reason and its cause, without the response. */
export function reasonOf(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined;
  const code = isRecord(error) && typeof error['error'] === 'string' ? ` (${error['error']})` : '';
  const detail = cause instanceof Error ? `: ${cause.message}` : '';
  return `${messageOf(error)}${code}${detail}`.slice(0, MAX_REASON);
}
