// Who signed in, who tried to, and from where: audit lines and metrics. Never a password, nor a name that is no user's:
// people type passwords into the wrong field.
import { recordedAgent } from '../../observability/printable-text.ts';

/** Where the password was given: the token endpoint, the sign-in page, or a change of the password. */
export type LoginMethod = 'password_grant' | 'page' | 'password_change';

/** What became of it. `unavailable`: the server could not check it. */
export type LoginOutcome =
  | 'success'
  | 'unknown_user'
  | 'no_password'
  | 'wrong_password'
  | 'disabled'
  | 'must_change'
  | 'throttled'
  | 'unavailable';

export interface LoginRecord {
  readonly method: LoginMethod;
  readonly outcome: LoginOutcome;
  /** Undefined when there is no such user. */
  readonly user: string | undefined;
  /** Id of a configured client; empty where none is involved. */
  readonly client: string;
  readonly source: string;
  readonly userAgent: string;
  readonly requestID: string;
}

export interface LoginRecords {
  record(login: LoginRecord): void;
}

/** `audit`: a logger whose lines a collector routes by `audit: true`. */
export function newLoginRecords(
  audit: { info(line: object, message: string): void },
  metrics: { login(labels: Pick<LoginRecord, 'method' | 'outcome' | 'client'>): void },
): LoginRecords {
  return {
    record: ({ method, outcome, user, client, source, userAgent, requestID }) => {
      metrics.login({ method, outcome, client });
      audit.info(
        {
          stage: 'Login',
          method,
          outcome,
          ...(user === undefined ? {} : { user }),
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
