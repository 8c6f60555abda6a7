// Identity provider of type `ldap`: verifies passwords by a bind as the person, and reads entries and groups as a service account.

import { randomUUID } from 'node:crypto';
import type { Logger } from 'pino';
import { StatusError } from '../../../../apis/meta/v1/errors.ts';
import { messageOf } from '../../../../apis/reading/thrown-value.ts';
import type { Seats } from '../../../admission/seats.ts';
import type { CallContext } from '../../../cluster/call-context.ts';
import { boundedSignal } from '../../../concurrency/bounded-signal.ts';
import { Wakeup } from '../../../concurrency/wakeup.ts';
import { PASSWORD_ONLY } from '../../sessions/proof.ts';
import {
  type AuthenticatedPerson,
  type PasswordAttempt,
  type PasswordProvider,
  type PasswordRejection,
  type PersonEnd,
  type ProviderProblem,
  ProviderUnavailable,
  type StoredProof,
} from '../provider.ts';
import { bindVerdict, isDisabled, passwordVersion } from './account-state.ts';
import type { DirectoryClient } from './directory-client.ts';
import { DirectoryHosts } from './directory-hosts.ts';
import type { LDAPSettings } from './ldap-settings.ts';
import { PeopleSearch, readKnownEntry } from './people-search.ts';

export interface LDAPProviderOptions {
  readonly name: string;
  readonly displayName: string;
  readonly settings: LDAPSettings;
  /** Undefined while the Secret has no password. */
  readonly bindPassword: () => string | undefined;
  /** CA certificates in PEM; undefined for those of Node.js. */
  readonly ca: () => Promise<string | undefined>;
  /** Concurrent conversations with the directory. */
  readonly seats: Seats;
  readonly log: Pick<Logger, 'info' | 'warn' | 'debug'>;
  /** Ms since the epoch. */
  readonly now: () => number;
  readonly timing?: LDAPTiming;
}

/** In ms. */
interface LDAPTiming {
  /** Of one host. */
  readonly connectMs: number;
  /** Of a whole conversation, for all hosts. */
  readonly deadlineMs: number;
  /** Between two checks while the directory works, and while it does not. */
  readonly checkMs: number;
  readonly retryMs: number;
}

/** A browser and kubectl wait longer than the deadline. */
export const LDAP_TIMING: LDAPTiming = {
  connectMs: 2_500,
  deadlineMs: 8_000,
  checkMs: 60_000,
  retryMs: 5_000,
};

/** A name that no directory entry has, for the bind of an unknown person. */
const UNKNOWN_PERSON = 'cn=ks-apiserver-unknown-person';
const MAX_USER_NAME = 256;

export class LDAPProvider implements PasswordProvider {
  readonly name: string;
  readonly displayName: string;
  readonly usesRefreshTokens = false;
  readonly #options: LDAPProviderOptions;
  readonly #timing: LDAPTiming;
  readonly #hosts: DirectoryHosts;
  readonly #people: PeopleSearch;
  /** Undefined while the directory works. */
  #failure: string | undefined = 'not checked yet';
  readonly #wakeup = new Wakeup();

  constructor(options: LDAPProviderOptions) {
    const { name, displayName, settings } = options;
    this.name = name;
    this.displayName = displayName;
    this.#options = options;
    this.#timing = options.timing ?? LDAP_TIMING;
    this.#people = new PeopleSearch(settings, options.log);
    this.#hosts = new DirectoryHosts({ ...settings, connectMs: this.#timing.connectMs });
  }

  get problem(): ProviderProblem | undefined {
    if (this.#failure === undefined) return undefined;
    return {
      reason: this.#failure,
      summary: 'the directory does not work',
      notice: `${this.displayName} cannot be reached at the moment.`,
    };
  }

  async run(signal: AbortSignal): Promise<void> {
    const { checkMs, retryMs } = this.#timing;
    while (!signal.aborted) {
      await this.#connected(signal, (client) => this.#people.requirePeople(client)).then(
        () => this.#becomes(undefined),
        (error: unknown) => {
          if (!signal.aborted) this.#becomes(messageOf(error));
        },
      );
      await this.#wakeup.next(signal, this.#failure === undefined ? checkMs : retryMs);
    }
  }

  /** Checks the directory at once, for instance after the password of the service account has changed. */
  check(): void {
    this.#wakeup.wake();
  }

  async signIn({
    user,
    password,
    resolved,
    ...call
  }: PasswordAttempt): Promise<AuthenticatedPerson | PasswordRejection> {
    // Neither reaches the directory (RFC 4513, 5.1.2).
    if (password === '' || password.includes('\0')) return 'wrong_password';
    if (user === '' || user.includes('\0') || user.length > MAX_USER_NAME) return 'unknown_user';
    return this.#converse(call, async (client) => {
      const entry = await this.#people.find(client, user);
      const subject = entry && this.#people.subjectOf(entry);
      // No subject of a directory has a space.
      const counted = subject ?? `unknown ${user.toLowerCase()}`;
      await resolved({ issuer: this.#people.issuer, subject: counted });
      if (!entry || subject === undefined) {
        // An unknown name costs as many requests as a wrong password. The directory does not learn passwords of other people.
        await client.bind(UNKNOWN_PERSON, randomUUID());
        return 'unknown_user';
      }
      const result = await client.bind(entry.dn, password);
      const verdict = bindVerdict(result);
      if (verdict === undefined) throw new ProviderUnavailable(`bind of a person: ${result.message}`);
      if (verdict !== 'accepted') return verdict;
      if (isDisabled(entry, this.#options.now())) return 'disabled';
      // Operations after the bind would run with the permissions of the person.
      await this.#bindService(client);
      const { person, ...state } = await this.#people.personOf(client, entry, subject);
      return { ...state, person: { ...person, amr: PASSWORD_ONLY } };
    });
  }

  async revalidate(
    { issuer, subject, upstream }: StoredProof,
    call: CallContext,
  ): Promise<AuthenticatedPerson | PersonEnd> {
    if (issuer !== this.#people.issuer) return 'gone';
    const known = readKnownEntry(upstream);
    return this.#converse(call, async (client) => {
      const entry = await this.#people.findAgain(client, subject, known);
      if (!entry) {
        // A directory that shows no people says nothing about one of them.
        await this.#people.requirePeople(client);
        return 'gone';
      }
      if (isDisabled(entry, this.#options.now())) return 'disabled';
      if (known && known.password !== passwordVersion(entry)) return 'password changed';
      return this.#people.personOf(client, entry, subject);
    });
  }

  /** Runs `talk` with the service account. Fails at once while the directory is known not to work. */
  async #converse<T>(
    { signal, caller = '' }: CallContext,
    talk: (client: DirectoryClient) => Promise<T>,
  ): Promise<T> {
    if (this.#failure !== undefined) throw new ProviderUnavailable(this.#failure);
    using _seat = await this.#seat(caller, signal);
    try {
      return await this.#connected(signal, talk);
    } finally {
      // The background check follows the recovery.
      if (this.#failure !== undefined) this.check();
    }
  }

  /** A directory that is too slow for its requests is unavailable: sessions are refreshed for a time nevertheless. */
  async #seat(caller: string, signal: AbortSignal): Promise<Disposable> {
    try {
      return await this.#options.seats.take(caller, { signal });
    } catch (cause) {
      signal.throwIfAborted();
      throw new ProviderUnavailable('too many requests wait for the directory', { cause });
    }
  }

  /**
   * Only a connection without a bind shows that the directory does not work. An error of a later request may concern one person, who could
   * then keep all others out.
   */
  async #connected<T>(signal: AbortSignal, talk: (client: DirectoryClient) => Promise<T>): Promise<T> {
    const { deadlineMs } = this.#timing;
    using bounded = boundedSignal(signal, deadlineMs);
    const deadline = bounded.signal;
    const unavailable = (error: unknown): ProviderUnavailable => {
      signal.throwIfAborted();
      const reason = deadline.aborted ? `no response within ${deadlineMs / 1000} s` : messageOf(error);
      return new ProviderUnavailable(reason, { cause: error });
    };
    using client = await this.#connect(deadline).catch((error: unknown) => {
      const failure = unavailable(error);
      this.#becomes(failure.message);
      throw failure;
    });
    try {
      return await talk(client);
    } catch (error) {
      throw error instanceof StatusError ? error : unavailable(error);
    }
  }

  async #connect(deadline: AbortSignal): Promise<DirectoryClient> {
    const ca = await this.#options.ca();
    return this.#hosts.connect(ca, deadline, (client) => this.#bindService(client));
  }

  #becomes(failure: string | undefined): void {
    const { log, name } = this.#options;
    if (this.#failure === failure) return;
    if (failure === undefined) log.info({ provider: name }, 'the directory works');
    else log.warn({ provider: name, reason: failure }, 'the directory does not work');
    this.#failure = failure;
  }

  async #bindService(client: DirectoryClient): Promise<void> {
    const { settings, bindPassword } = this.#options;
    const { bindDN, bindPasswordRef } = settings;
    const password = bindPassword();
    if (password === undefined) {
      const { name, key } = bindPasswordRef;
      throw new ProviderUnavailable(
        `the Secret ${name} has no key ${key} with the password of the service account`,
      );
    }
    const { code, message } = await client.bind(bindDN, password);
    if (code === 49)
      throw new ProviderUnavailable(
        'the directory rejects the service account: check bindDN and its password',
      );
    if (code !== 0) throw new ProviderUnavailable(`bind of the service account: ${message}`);
  }
}
