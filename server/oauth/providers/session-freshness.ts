// Re-validates the person of a session at the identity provider, at each refresh: changed groups apply, and the sessions of a person who
// is gone or disabled end.
import type { Logger } from 'pino';
import { descriptionText, OAuthError, temporarilyUnavailable } from '../../../apis/oauth/oauth-error.ts';
import type { CallContext } from '../../cluster/call-context.ts';
import type { Seal } from '../keys/seal.ts';
import type { IdentityProof } from '../sessions/proof.ts';
import { authTimeOf, type SessionStore, type StoredSession } from '../sessions/session.ts';
import type { Identity, IdentityDirectory } from '../users/identity-store.ts';
import type { ConfiguredProvider } from './configured-provider.ts';
import type { Identities } from './identities.ts';
import { type AuthenticatedPerson, type PersonEnd, ProviderUnavailable } from './provider.ts';
import type { RefreshTokens } from './refresh-tokens.ts';

interface SessionFreshnessOptions {
  readonly providers: readonly ConfiguredProvider[];
  readonly directory: Pick<IdentityDirectory, 'get'>;
  readonly identities: Pick<Identities, 'confirmed'>;
  readonly seal: Seal;
  readonly refreshTokens: Pick<RefreshTokens, 'use'>;
  readonly sessions: Pick<SessionStore, 'ofUser' | 'delete'>;
  /** Ms since the epoch. */
  readonly now: () => number;
  readonly log: Pick<Logger, 'info' | 'warn'>;
}

/** Why a session of a person ends. */
type FreshnessEnd = PersonEnd | 'provider removed';

const RETRY_SECONDS = 10;

/** What a confirmation changes in the proof of a session. */
type Renewal = Pick<IdentityProof, 'groups' | 'verifiedEmail' | 'checkedAt' | 'upstream'>;

export class SessionFreshness {
  readonly #options: SessionFreshnessOptions;
  readonly #confirming = new Map<string, Promise<Renewal | FreshnessEnd>>();

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
    const { providers, directory, now } = this.#options;
    const identity = directory.get(proof.name);
    const configured = providers.find(({ provider }) => provider.name === identity?.provider);
    if (!identity || !configured) return this.#end(session, 'provider removed', call);
    const { provider, outageToleranceMs } = configured;
    try {
      const renewal = await this.#confirmed(proof, identity, configured, call);
      if (typeof renewal === 'string') return this.#end(session, renewal, call);
      const { verifiedEmail: _earlier, ...kept } = proof;
      return { ...session, authentication: { ...authentication, proof: { ...kept, ...renewal } } };
    } catch (error) {
      if (!(error instanceof ProviderUnavailable)) throw error;
      if (now() - proof.checkedAt <= outageToleranceMs) return session;
      throw temporarilyUnavailable(
        `${descriptionText(provider.displayName)} cannot confirm the user at the moment`,
        RETRY_SECONDS,
        error,
      );
    }
  }

  /**
   * Concurrent confirmations share the response; those without a refresh token depend on the session. Completed without the client: another
   * one may wait for it, and clients that wait for less time than a provider needs would never get a response.
   */
  #confirmed(
    proof: IdentityProof,
    identity: Identity,
    configured: ConfiguredProvider,
    { signal: _ofClient, ...caller }: CallContext,
  ): Promise<Renewal | FreshnessEnd> {
    const state = configured.provider.usesRefreshTokens ? '' : (proof.upstream ?? '');
    const key = `${proof.name} ${proof.uid} ${state}`;
    const confirming =
      this.#confirming.get(key) ??
      this.#confirm(proof, identity, configured, { ...caller, signal: new AbortController().signal }).finally(
        () => this.#confirming.delete(key),
      );
    this.#confirming.set(key, confirming);
    return confirming;
  }

  async #confirm(
    proof: IdentityProof,
    identity: Identity,
    { provider, rules }: ConfiguredProvider,
    call: CallContext,
  ): Promise<Renewal | FreshnessEnd> {
    const { identities, seal, refreshTokens, now } = this.#options;
    const upstream = await seal.open(proof.upstream);
    const ask = (refreshToken?: string): Promise<AuthenticatedPerson | PersonEnd> =>
      provider.revalidate({ ...identity, upstream, refreshToken }, call);
    const result = provider.usesRefreshTokens ? await refreshTokens.use(identity, ask) : await ask();
    if (typeof result === 'string') return result;
    const facts = identities.confirmed(result.person, rules);
    if (!facts) throw tooManyGroups();
    const isChanged = result.upstream !== undefined && result.upstream !== upstream;
    const state = isChanged ? { upstream: await seal.seal(result.upstream) } : {};
    return { ...facts, checkedAt: now(), ...state };
  }

  /** Ends all sessions that began with this identity, except if the reason is not about them. */
  async #end(session: StoredSession, reason: FreshnessEnd, { signal }: CallContext): Promise<FreshnessEnd> {
    const { sessions, log } = this.#options;
    const name = nameOf(session);
    for (const other of sessions.ofUser(session.user)) {
      if (nameOf(other) === name && other.id !== session.id && (await this.#concerns(other, session, reason)))
        await sessions.delete(other.id, signal);
    }
    await sessions.delete(session.id, signal);
    log.info(
      { user: session.user, identity: name, reason },
      'sessions terminated: the identity provider does not confirm the user',
    );
    return reason;
  }

  /** A session from after `ended` with another state may have begun with the new password. */
  async #concerns(other: StoredSession, ended: StoredSession, reason: FreshnessEnd): Promise<boolean> {
    if (reason !== 'password changed') return reason !== 'not confirmable';
    const { seal } = this.#options;
    return (
      authTimeOf(other) < authTimeOf(ended) ||
      (await seal.open(upstreamOf(other))) === (await seal.open(upstreamOf(ended)))
    );
  }
}

function nameOf({ authentication }: StoredSession): string | undefined {
  return authentication?.proof.kind === 'identity' ? authentication.proof.name : undefined;
}

function upstreamOf({ authentication }: StoredSession): string | undefined {
  return authentication?.proof.kind === 'identity' ? authentication.proof.upstream : undefined;
}

function tooManyGroups(): OAuthError {
  return new OAuthError(
    500,
    'server_error',
    'the user has too many groups: an administrator must restrict the groups that the provider may grant',
  );
}
