// State that all test replicas share in memory: users, passwords, sessions, clients and a clock. Only tests advance
// the clock.
import { createHash } from 'node:crypto';
import type { User } from '../../../apis/iam/v1beta1/user-resource.ts';
import type { ConfiguredClient } from '../../../server/oauth/clients/oauth-client.ts';
import type { SecondFactorSettings } from '../../../server/oauth/factors/factor-policy.ts';
import type { KeyRing } from '../../../server/oauth/keys/key-ring.ts';
import type { LoginRecord } from '../../../server/oauth/passwords/login-records.ts';
import { PasswordHasher } from '../../../server/oauth/passwords/password-hasher.ts';
import { THROTTLE } from '../../../server/oauth/throttle/delays.ts';
import type { Account, UserDirectory } from '../../../server/oauth/users/account.ts';
import { memoryThrottle } from './memory-failures.ts';
import { memoryKeyRing } from './memory-key-ring.ts';
import { MemorySessions } from './memory-session-store.ts';
import { MemoryCredentials } from './memory-users.ts';
import { NO_FRESHNESS, NO_IDENTITIES, NO_LINKS, NO_NAMES, NO_REDIRECTS } from './no-providers.ts';
import { newConfiguredClient } from './oauth-clients.ts';
import { MemoryAuthenticators } from './second-factors.ts';

export const PASSWORD = 'correct horse battery';
export const VERIFIER = 'v'.repeat(43);
export const CHALLENGE = createHash('sha256').update(VERIFIER).digest('base64url');
export const REDIRECT = 'https://console.example.com/callback';
/** The post_logout_redirect_uri of the client `console`. */
export const SIGNED_OUT = 'https://console.example.com/bye';

export class SiteState {
  now = Date.now();
  /** Address of all clients. */
  source = '192.0.2.7';
  readonly trustedProxies: string[] = [];
  readonly sessions = new MemorySessions();
  readonly accounts = new Map<string, Account>();
  readonly users: Pick<UserDirectory, 'get' | 'catchUp'> & {
    synced: boolean;
    object(name: string): User | undefined;
  } = {
    synced: true,
    get: (name) => this.accounts.get(name),
    object: (name) => {
      const account = this.accounts.get(name);
      const creationTimestamp = new Date(this.createdAt).toISOString();
      return account && { metadata: { name, uid: account.uid, creationTimestamp }, spec: {} };
    },
  };
  readonly credentials = new MemoryCredentials();
  /** Thrown when an attempt is counted. */
  throttled: Error | undefined;
  /** Called between the lookup of user and password and the verification. */
  meanwhile: () => void = () => undefined;
  readonly authenticators = new MemoryAuthenticators();
  secondFactor: SecondFactorSettings & { readonly groups: string[] } = {
    groups: [],
    providers: [],
    enrolmentPeriod: 86_400_000,
  };
  /** Creation time of all users. */
  createdAt = this.now;
  /** Shared by all replicas. */
  readonly factorThrottle = memoryThrottle({ ...THROTTLE, failures: 5 }, () => this.now);
  /** Records of second factors. */
  readonly records: LoginRecord[] = [];
  redirects = NO_REDIRECTS;
  names = NO_NAMES;
  links = NO_LINKS;
  identities = NO_IDENTITIES;
  freshness = NO_FRESHNESS;
  readonly clients: ConfiguredClient[] = [
    newConfiguredClient('console', {
      displayName: 'The Console',
      redirectURIs: [REDIRECT],
      postLogoutRedirectURIs: [SIGNED_OUT],
      isPublic: true,
    }),
    newConfiguredClient('cli', {
      redirectURIs: ['http://127.0.0.1/callback', 'http://localhost', 'https://localhost:8443/callback'],
      isPublic: true,
    }),
    newConfiguredClient('native', { redirectURIs: ['com.example.app:/callback'], isPublic: true }),
    newConfiguredClient('backend', {
      redirectURIs: [`${REDIRECT}?tenant=1`],
      grants: ['authorization_code'],
    }),
    newConfiguredClient('old', { redirectURIs: [REDIRECT], requiresPKCE: false }),
    newConfiguredClient('machine', { redirectURIs: [REDIRECT], grants: ['password'] }),
  ];
  readonly hasher = new PasswordHasher({
    memory: 1024 * 1024,
    iterations: 1,
    queue: { concurrency: 1, length: 64, timeoutMs: 10_000 },
  });
  readonly keys: KeyRing;

  private constructor(keys: KeyRing) {
    this.keys = keys;
  }

  /** With a user alice, whose password is PASSWORD. */
  static async make(): Promise<SiteState> {
    const state = new SiteState(await memoryKeyRing());
    await state.add('alice');
    return state;
  }

  async add(name: string, { mustChange = false, disabled = false, displayName = name } = {}): Promise<void> {
    const uid = `uid-of-${name}`;
    this.accounts.set(name, {
      name,
      uid,
      email: `${name}@example.com`,
      displayName,
      groups: ['developers'],
      disabled,
    });
    const passwordHash = await this.hasher.hash(PASSWORD, { caller: 'user test' });
    const changedAt = this.now - 1000;
    await this.credentials.set(name, { userUID: uid, passwordHash, mustChange, changedAt });
  }

  /** Changes the password of alice during her next attempt, which takes a second. */
  replaceMeanwhile(): void {
    this.meanwhile = () => {
      this.meanwhile = () => undefined;
      const known = this.credentials.get('alice');
      if (!known) throw new Error('alice has no password');
      void this.credentials.set('alice', { ...known, passwordHash: 'of another', changedAt: this.now + 500 });
      this.now += 1000;
    };
  }
}
