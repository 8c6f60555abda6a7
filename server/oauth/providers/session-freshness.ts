// Re-validates the person of a session at the identity provider, at each refresh: changed groups apply, and the sessions of a person who
// is gone or disabled end.
import type { Logger } from 'pino';
import { isConflict, isNotFound } from '../../../apis/meta/v1/errors.ts';
import { descriptionText, OAuthError, temporarilyUnavailable } from '../../../apis/oauth/oauth-error.ts';
import type { CallContext } from '../../cluster/call-context.ts';
import type { IdentityProof } from '../sessions/proof.ts';
import type { SessionStore, StoredSession } from '../sessions/session.ts';
import type { Identity, IdentityDirectory } from '../users/identity-store.ts';
import type { ConfiguredProvider } from './configured-provider.ts';
import type { Identities } from './identities.ts';
import { type PersonEnd, ProviderUnavailable } from './provider.ts';
import type { UpstreamSeal } from './upstream-seal.ts';

export interface SessionFreshnessOptions {
  readonly providers: readonly ConfiguredProvider[];
  readonly directory: Pick<IdentityDirectory, 'get'>;
  readonly identities: Pick<Identities, 'confirmed'>;
  readonly seal: UpstreamSeal;
  readonly sessions: Pick<SessionStore, 'ofUser' | 'read' | 'replace' | 'delete'>;
  /** Ms since the epoch. */
  readonly now: () => number;
  readonly log: Pick<Logger, 'info' | 'warn'>;
}

/** Why a session of a person ends. */
export type FreshnessEnd = PersonEnd | 'provider removed';

const RETRY_SECONDS = 10;
/** Maximum number of writes of a session that others change at the same time. */
const ATTEMPTS = 5;

/** A session with the latest state of the provider. */
interface Holder {
  readonly session: StoredSession;
  readonly proof: IdentityProof;
}

export class SessionFreshness {
  readonly #options: SessionFreshnessOptions;
  readonly #confirming = new Map<string, Promise<Holder | FreshnessEnd>>();

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
      const confirmed = await this.#confirmed(session, proof, (holder) =>
        this.#confirm(holder, identity, configured, call),
      );
      if (typeof confirmed === 'string') return this.#end(session, confirmed, call);
      const { session: holder, proof: renewed } = confirmed;
      return {
        ...(holder.id === session.id ? holder : session),
        authentication: { ...authentication, proof: renewed },
      };
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
   * All sessions of an identity share the latest state of the provider, because a refresh token of a provider may be valid once.
   * Concurrent confirmations share the response.
   */
  async #confirmed(
    session: StoredSession,
    proof: IdentityProof,
    confirm: (holder: Holder) => Promise<Holder | FreshnessEnd>,
  ): Promise<Holder | FreshnessEnd> {
    const { sessions } = this.#options;
    const holders = sessions.ofUser(session.user).flatMap((each) => holderIn(each, proof.name));
    const latest = [{ session, proof }, ...holders].reduce((one, other) =>
      other.proof.checkedAt > one.proof.checkedAt ? other : one,
    );
    const key = `${proof.name} ${latest.proof.upstream ?? session.id}`;
    const confirming =
      this.#confirming.get(key) ?? confirm(latest).finally(() => this.#confirming.delete(key));
    this.#confirming.set(key, confirming);
    return confirming;
  }

  async #confirm(
    { session, proof }: Holder,
    identity: Identity,
    { provider, rules }: ConfiguredProvider,
    call: CallContext,
  ): Promise<Holder | FreshnessEnd> {
    const { identities, seal, now } = this.#options;
    const upstream = await seal.open(proof.upstream);
    const result = await provider.revalidate({ ...identity, upstream }, call);
    if (typeof result === 'string') {
      return (
        (upstream === undefined ? undefined : await this.#confirmedElsewhere(session, proof, call)) ?? result
      );
    }
    const facts = identities.confirmed(result.person, rules);
    if (!facts) throw tooManyGroups();
    const { verifiedEmail: _earlier, ...kept } = proof;
    const renewed = { ...kept, ...facts, checkedAt: now() };
    if (result.upstream === undefined || result.upstream === upstream) return { session, proof: renewed };
    const changed = { ...renewed, upstream: await seal.seal(result.upstream) };
    return { session: await this.#store(session, changed, call), proof: changed };
  }

  /** The session, if another replica has used the state of the provider meanwhile. */
  async #confirmedElsewhere(
    { id }: StoredSession,
    { name, upstream }: IdentityProof,
    call: CallContext,
  ): Promise<Holder | undefined> {
    const latest = await this.#options.sessions.read(id, call);
    const [holder] = latest ? holderIn(latest, name) : [];
    return holder && holder.proof.upstream !== upstream ? holder : undefined;
  }

  /** Before any response, because the provider does not accept the earlier state again. */
  async #store(holder: StoredSession, proof: IdentityProof, call: CallContext): Promise<StoredSession> {
    const { sessions } = this.#options;
    let session: StoredSession | undefined = holder;
    for (let attempt = 0; attempt < ATTEMPTS && session?.authentication; attempt++) {
      try {
        const authentication = { ...session.authentication, proof };
        return await sessions.replace({ ...session, authentication }, call.signal);
      } catch (error) {
        if (isNotFound(error)) break;
        if (!isConflict(error)) throw error;
        session = await sessions.read(holder.id, call);
      }
    }
    return holder;
  }

  /** Ends all sessions that began with this identity, except if the reason is only about this session. */
  async #end(session: StoredSession, reason: FreshnessEnd, { signal }: CallContext): Promise<FreshnessEnd> {
    const { sessions, log } = this.#options;
    const name = nameOf(session);
    const others =
      reason === 'not confirmable'
        ? []
        : sessions.ofUser(session.user).filter((other) => nameOf(other) === name);
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

function holderIn(session: StoredSession, identity: string): readonly Holder[] {
  const proof = session.authentication?.proof;
  return proof?.kind === 'identity' && proof.name === identity ? [{ session, proof }] : [];
}

function tooManyGroups(): OAuthError {
  return new OAuthError(
    500,
    'server_error',
    'the user has too many groups: an administrator must restrict the groups that the provider may grant',
  );
}
