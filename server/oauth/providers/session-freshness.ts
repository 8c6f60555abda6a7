// Re-validates the person of a session at the identity provider, at each refresh: changed groups apply, and the sessions of a person who
// is gone or disabled end.
import type { Logger } from 'pino';
import { OAuthError, temporarilyUnavailable } from '../../../apis/oauth/oauth-error.ts';
import type { CallContext } from '../../cluster/call-context.ts';
import type { SessionStore, StoredSession } from '../sessions/session.ts';
import type { IdentityDirectory } from '../users/identity-store.ts';
import type { ConfiguredProvider } from './configured-provider.ts';
import type { Identities } from './identities.ts';
import { type PersonEnd, ProviderUnavailable } from './provider.ts';
import type { UpstreamSeal } from './upstream-seal.ts';

export interface SessionFreshnessOptions {
  readonly providers: readonly ConfiguredProvider[];
  readonly directory: Pick<IdentityDirectory, 'get'>;
  readonly identities: Pick<Identities, 'groupsOf'>;
  readonly seal: UpstreamSeal;
  readonly sessions: Pick<SessionStore, 'ofUser' | 'delete'>;
  /** Ms since the epoch. */
  readonly now: () => number;
  readonly log: Pick<Logger, 'info' | 'warn'>;
}

/** Why a session of a person ends. */
export type FreshnessEnd = PersonEnd | 'provider removed';

const RETRY_SECONDS = 10;

export class SessionFreshness {
  readonly #options: SessionFreshnessOptions;

  constructor(options: SessionFreshnessOptions) {
    this.#options = options;
  }

  /**
   * The session with the current groups, or why it ends; a session that began with a local password is returned as it is. Throws
   * OAuthError 503 after an outage of the provider that is longer than tolerated.
   */
  async renewed(session: StoredSession, call: CallContext): Promise<StoredSession | FreshnessEnd> {
    const { authentication } = session;
    if (authentication?.proof.kind !== 'identity') return session;
    const { proof } = authentication;
    const { providers, directory, identities, seal, now } = this.#options;
    const identity = directory.get(proof.name);
    const configured = providers.find(({ provider }) => provider.name === identity?.provider);
    if (!identity || !configured) return this.#end(session, 'provider removed', call);
    const { provider, rules, outageToleranceMs } = configured;
    try {
      const upstream = await seal.open(proof.upstream);
      const result = await provider.revalidate({ ...identity, upstream }, call);
      if (typeof result === 'string') return this.#end(session, result, call);
      const groups = identities.groupsOf(result.person, rules);
      if (!groups) throw tooManyGroups();
      const sealed =
        result.upstream === undefined || result.upstream === upstream
          ? proof.upstream
          : await seal.seal(result.upstream);
      const renewed = {
        ...proof,
        groups,
        checkedAt: now(),
        ...(sealed === undefined ? {} : { upstream: sealed }),
      };
      return { ...session, authentication: { ...authentication, proof: renewed } };
    } catch (error) {
      if (!(error instanceof ProviderUnavailable)) throw error;
      if (now() - proof.checkedAt <= outageToleranceMs) return session;
      throw temporarilyUnavailable(
        `${ascii(provider.displayName)} cannot confirm the user at the moment`,
        RETRY_SECONDS,
        error,
      );
    }
  }

  /** Ends all sessions that began with this identity: they would end one by one otherwise. */
  async #end(session: StoredSession, reason: FreshnessEnd, { signal }: CallContext): Promise<FreshnessEnd> {
    const { sessions, log } = this.#options;
    const name = nameOf(session);
    const others = sessions.ofUser(session.user).filter((other) => nameOf(other) === name);
    for (const id of new Set([session.id, ...others.map((other) => other.id)]))
      await sessions.delete(id, signal);
    log.info(
      { user: session.user, identity: name, reason },
      'sessions terminated: the identity provider does not confirm the user',
    );
    return reason;
  }
}

function nameOf({ authentication }: StoredSession): string | undefined {
  return authentication?.proof.kind === 'identity' ? authentication.proof.name : undefined;
}

function tooManyGroups(): OAuthError {
  return new OAuthError(
    500,
    'server_error',
    'the user has too many groups: an administrator must restrict the groups that the provider may grant',
  );
}

/** RFC 6749, 5.2. */
function ascii(text: string): string {
  return text.replaceAll(/[^\x20-\x7e]|["\\]/g, '?');
}
