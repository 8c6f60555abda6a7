// Audit records and metrics of sign-in attempts. They contain no password.
import { recordedAgent } from '../../observability/printable-text.ts';
import type { ClientOrigin } from '../../request/source-address.ts';
import type { ProviderVerdict } from '../providers/provider-sign-in.ts';

/**
 * Where the password was entered; `provider`: at the pages of an identity provider; `account_link`: to link an account of a directory;
 * `passkey`: without a password; `second_factor`: after a password.
 */
export type LoginMethod =
  | 'password_grant'
  | 'page'
  | 'password_change'
  | 'provider'
  | 'account_link'
  | 'passkey'
  | 'second_factor';

/**
 * `unavailable`: the password could not be verified. `second_factor_required`: the password was right, but does not suffice.
 */
export type LoginOutcome =
  | ProviderVerdict['outcome']
  | 'no_password'
  | 'throttled'
  | 'refused_by_provider'
  | 'wrong_passkey'
  | 'provider_required'
  | 'second_factor_required'
  | 'wrong_code';

/** Where an attempt comes from. */
export interface LoginOrigin extends ClientOrigin {
  /** Id of a configured client; empty without one. */
  readonly client: string;
  readonly requestID: string;
}

export interface LoginRecord {
  readonly method: LoginMethod;
  readonly outcome: LoginOutcome;
  /** Of `account_link`, the user of the account page. Undefined for an unknown name, because users type passwords into the wrong field. */
  readonly user: string | undefined;
  /** The identity provider that decided; undefined for a local password. */
  readonly provider?: string | undefined;
  /** A person without a user, so that an administrator can link the person. */
  readonly person?: { readonly issuer: string; readonly subject: string } | undefined;
  /** Why the provider did not authenticate the person, or the passkey was rejected. */
  readonly reason?: string | undefined;
}

export interface LoginRecords {
  record(origin: LoginOrigin, login: LoginRecord): void;
}

/** Writes sign-in attempts to the audit log and the metrics. The lines of `audit` have `audit: true`, for log collectors. */
export function newLoginRecords(
  audit: { info(line: object, message: string): void },
  metrics: { login(labels: Pick<LoginRecord, 'method' | 'outcome'> & Pick<LoginOrigin, 'client'>): void },
  lastLogins: { record(user: string): void },
): LoginRecords {
  return {
    record: (
      { client, source, userAgent, requestID },
      { method, outcome, user, provider, person, reason },
    ) => {
      metrics.login({ method, outcome, client });
      if (outcome === 'success' && user !== undefined) lastLogins.record(user);
      audit.info(
        {
          stage: 'Login',
          method,
          outcome,
          ...(user === undefined ? {} : { user }),
          ...(provider === undefined ? {} : { provider }),
          ...(person === undefined ? {} : { person }),
          ...(reason === undefined ? {} : { reason }),
          ...(client === '' ? {} : { client }),
          source,
          userAgent: recordedAgent(userAgent),
          requestID,
        },
        'login',
      );
    },
  };
}
