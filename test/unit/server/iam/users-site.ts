// Test server with the users handler behind the real filter chain.

import { groupName } from '../../../../apis/iam/v1beta1/group-version.ts';
import { invalidGrant } from '../../../../apis/oauth/oauth-error.ts';
import type { Attributes } from '../../../../server/authorization/authorizer.ts';
import { allowOwnPassword } from '../../../../server/authorization/own-password.ts';
import { TimeSlicer } from '../../../../server/concurrency/time-slicer.ts';
import { usersHandler } from '../../../../server/iam/users-handler.ts';
import { type Factors, NO_FACTORS } from '../../../../server/oauth/factors/authenticators-store.ts';
import { SecondFactor } from '../../../../server/oauth/factors/second-factor.ts';
import { GroupGrants } from '../../../../server/oauth/providers/group-grants.ts';
import { byPassword } from '../../../../server/oauth/sessions/proof.ts';
import type { Identity } from '../../../../server/oauth/users/identity-store.ts';
import { resourceRequests } from '../../../../server/request/resource-route.ts';
import type { Answer } from '../../../support/exchange.ts';
import { MemorySessionStore, MemorySessions } from '../../../support/oauth/memory-session-store.ts';
import { MemoryCredentials, MemoryUsers } from '../../../support/oauth/memory-users.ts';
import { newSession } from '../../../support/oauth/new-session.ts';
import { ask, type ChainFixture, startChain } from '../filters/chain-fixture.ts';

export const GROUP = groupName('platform');
const USERS = `/kapis/${GROUP}/v1beta1/users`;
export const GOOD = 'a good password';

/** The users handler behind the real filter chain; users and passwords in memory. */
export class UsersSite {
  readonly users = new MemoryUsers();
  readonly credentials = new MemoryCredentials();
  readonly sessions = new MemorySessionStore(new MemorySessions());
  readonly factors = new Map<string, Factors>();
  /** Of people of the provider `company`. */
  readonly identities: Identity[] = [];
  /** Groups that `company` may grant. */
  readonly granted = ['operators'];
  /** Users whose delays after wrong codes have ended. */
  readonly forgiven: string[] = [];
  readonly logged: object[] = [];
  readonly warnings: object[] = [];
  /** `verb resource/name` that RBAC allows, in addition to all operations on users. */
  readonly allowed = new Map<string, Set<string>>();
  /** Thrown by the next verifications of a current password. */
  refusal: Error | undefined;
  readonly checked: object[] = [];
  /** Runs after a current password was verified. */
  afterCheck: () => Promise<void> = () => Promise.resolve();
  /** Runs while the new password is hashed. */
  beforeHash: () => Promise<void> = () => Promise.resolve();
  now = 1000;
  #chain: ChainFixture | undefined;

  async start(): Promise<this> {
    const authorizer = allowOwnPassword({ authorize: (attributes) => this.#decide(attributes) }, GROUP);
    const handler = usersHandler({
      group: GROUP,
      users: this.users,
      credentials: this.credentials,
      sessions: this.sessions,
      hasher: {
        hash: async (password) => {
          await this.beforeHash();
          return `hash of ${password}`;
        },
        verify: (stored, password) => Promise.resolve(stored === `hash of ${password}`),
      },
      passwords: {
        check: async (attempt) => {
          this.checked.push(attempt);
          if (this.refusal) throw this.refusal;
          const account = this.users.get(attempt.user);
          const credential = this.credentials.get(attempt.user);
          if (!account || credential?.passwordHash !== `hash of ${attempt.password}`) {
            throw invalidGrant('wrong');
          }
          await this.afterCheck();
          return { account, authentication: byPassword(credential, 0), credential };
        },
      },
      sourceOf: () => '192.0.2.7',
      authorizer,
      groupGrants: new GroupGrants({
        providers: [
          { rules: { name: 'company', accounts: 'create', groups: { allow: this.granted, prefix: 'c-' } } },
        ],
        store: {
          synced: true,
          ofUser: ({ name }) => this.identities.filter(({ user }) => user === name),
        },
        sessions: this.sessions,
      }),
      secondFactor: new SecondFactor({
        authenticators: {
          of: ({ name }) => this.factors.get(name) ?? NO_FACTORS,
          update: async ({ name }, change) => {
            const changed = await change(this.factors.get(name) ?? NO_FACTORS);
            if (changed) this.factors.set(name, changed);
            return changed;
          },
        },
        secrets: { open: async () => undefined },
        throttle: {
          attempt: () => {
            throw new Error('unexpected');
          },
          forgive: async (user) => {
            this.forgiven.push(user);
          },
        },
        records: { record: () => undefined },
        now: () => this.now,
      }),
      log: {
        info: (line: object) => this.logged.push(line),
        warn: (line: object) => this.warnings.push(line),
      },
      // Each step of a list has a time slice of its own.
      slicer: new TimeSlicer(0),
      now: () => this.now,
    });
    this.#chain = await startChain({
      handler: resourceRequests([
        { prefix: 'kapis', group: GROUP, version: 'v1beta1', resource: 'users', handler },
      ]),
      authorizer,
      limits: { maxBodyBytes: 100_000, timeoutMs: 60_000 },
    });
    return this;
  }

  async stop(): Promise<void> {
    await this.#chain?.stop();
  }

  /** Creates a user of a group and an administrator, with two sessions each. Returns them. */
  async addAdaAndRoot(): Promise<readonly { readonly name: string; readonly uid: string }[]> {
    const added: { readonly name: string; readonly uid: string }[] = [];
    for (const [name, group] of [
      ['ada', 'dev'],
      ['root', 'platform-admins'],
    ] as const) {
      const { metadata } = await this.users.create({ metadata: { name }, spec: { groups: [group] } });
      added.push({ name, uid: metadata.uid ?? '' });
    }
    await this.signIn('ada', 'root');
    return added;
  }

  /** Creates two sessions of each user. */
  async signIn(...users: readonly string[]): Promise<void> {
    for (const user of [...users, ...users]) await this.sessions.create(newSession({ user }));
  }

  /** Allows `user` further operations, in addition to all operations on users. */
  allow(user: string, ...what: readonly string[]): void {
    this.allowed.set(user, new Set(what));
  }

  async ask(user: string, method: string, path: string, body?: object | string): Promise<UsersAnswer> {
    if (!this.#chain) throw new Error('not started');
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    const answer = await ask(this.#chain, `${USERS}${path}`, {
      method,
      headers: { 'test-user': user, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
      ...(text === undefined ? {} : { body: text }),
    });
    return { ...answer, json: JSON.parse(answer.body || '{}') as UsersAnswer['json'] };
  }

  #decide(attributes: Attributes): { allowed: boolean; reason: string } {
    if (!('resource' in attributes)) return { allowed: false, reason: '' };
    const { user, verb, resource, group, name } = attributes;
    if (group === GROUP && user.name !== 'ada') return { allowed: true, reason: '' };
    const may = this.allowed.get(user.name);
    return { allowed: may?.has(`${verb} ${resource}/${name}`) === true, reason: '' };
  }
}

export interface UsersAnswer extends Answer {
  readonly json: {
    readonly kind?: string;
    readonly reason?: string;
    readonly message?: string;
    readonly details?: {
      readonly name?: string;
      readonly causes?: readonly { readonly field?: string; readonly message: string }[];
    };
    readonly metadata?: Readonly<Record<string, unknown>>;
    readonly spec?: object;
    readonly status?: unknown;
    readonly items?: readonly { readonly metadata: { readonly name: string } }[];
    readonly totalItems?: number;
  };
}

/** The fields of a validation error. */
export function fieldsOf({ json }: UsersAnswer): (string | undefined)[] {
  return (json.details?.causes ?? []).map(({ field }) => field);
}

export function document(name: string, spec: object = {}, metadata: object = {}): object {
  return { apiVersion: `${GROUP}/v1beta1`, kind: 'User', metadata: { name, ...metadata }, spec };
}
