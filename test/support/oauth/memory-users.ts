// User directory and credential store in memory, for tests. The conformance suites also test the real stores.
import type { User } from '../../../apis/iam/v1beta1/user-resource.ts';
import { newConflict, StatusError } from '../../../apis/meta/v1/errors.ts';
import type {
  Account,
  Credential,
  CredentialStore,
  NewCredential,
  WrittenCredential,
} from '../../../server/oauth/users/account.ts';
import { accountOf, type Users } from '../../../server/oauth/users/user-directory.ts';

/** User directory in memory. The conformance suite test/conformance/users.suite.ts also tests the real user directory. */
export class MemoryUsers implements Users {
  synced = true;
  readonly #objects = new Map<string, User>();
  #version = 0;

  get(name: string): Account | undefined {
    const found = this.#objects.get(name);
    return found && accountOf(found);
  }

  object(name: string): User | undefined {
    return this.#objects.get(name);
  }

  objects(): Iterable<User> {
    return this.#objects.values();
  }

  anyExists(): Promise<boolean> {
    return Promise.resolve(this.#objects.size > 0);
  }

  read(name: string): Promise<User | undefined> {
    return Promise.resolve(this.#objects.get(name));
  }

  async create(user: User): Promise<User> {
    if (this.#objects.has(user.metadata.name)) {
      throw new StatusError(409, 'AlreadyExists', 'already exists');
    }
    return this.#put({ ...user, metadata: { ...user.metadata, uid: `uid-${++this.#version}` } });
  }

  async replace(user: User): Promise<User> {
    const { name, resourceVersion } = user.metadata;
    const found = this.#objects.get(name);
    if (!found) throw new StatusError(404, 'NotFound', 'not found');
    if (resourceVersion !== undefined && resourceVersion !== found.metadata.resourceVersion) {
      throw newConflict({ group: 'iam.platform.io', resource: 'users' }, name, 'it was changed');
    }
    const uid = found.metadata.uid ?? '';
    return this.#put({ ...user, metadata: { ...user.metadata, uid } });
  }

  async delete(name: string, uid: string): Promise<boolean> {
    const found = this.#objects.get(name);
    if (!found) return false;
    if (found.metadata.uid !== uid) throw new StatusError(409, 'Conflict', 'the uid is another one');
    return this.#objects.delete(name);
  }

  #put(user: User): User {
    const stored = { ...user, metadata: { ...user.metadata, resourceVersion: String(++this.#version) } };
    this.#objects.set(user.metadata.name, stored);
    return stored;
  }
}

/** Passwords without a cluster; see test/conformance/credential-store.suite.ts. */
export class MemoryCredentials implements CredentialStore {
  synced = true;
  readonly #stored = new Map<string, Credential>();
  #version = 0;

  get(user: string): Credential | undefined {
    return this.#stored.get(user);
  }

  async set(user: string, credential: WrittenCredential): Promise<void> {
    const { resourceVersion } = credential;
    if (resourceVersion !== undefined && resourceVersion !== this.#stored.get(user)?.resourceVersion) {
      throw newConflict({ group: 'iam.platform.io', resource: 'credentials' }, user, 'it was changed');
    }
    this.#put(user, credential);
  }

  async create(user: string, credential: NewCredential): Promise<void> {
    if (this.#stored.has(user)) throw new StatusError(409, 'AlreadyExists', 'already exists');
    this.#put(user, credential);
  }

  delete(user: string): void {
    this.#stored.delete(user);
  }

  #put(user: string, credential: NewCredential): void {
    const resourceVersion = String(++this.#version);
    const uid = this.#stored.get(user)?.uid ?? `uid-${resourceVersion}`;
    this.#stored.set(user, { ...credential, uid, resourceVersion });
  }
}
