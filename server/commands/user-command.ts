// `ks-apiserver user`: creates users, sets passwords, resets second factors, and restores users from a backup. Passwords are
// never command-line arguments.
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { text as textOf } from 'node:stream/consumers';
import { groupName, VERSION } from '../../apis/iam/v1beta1/group-version.ts';
import { SESSION } from '../../apis/iam/v1beta1/session-resource.ts';
import type { User } from '../../apis/iam/v1beta1/user-resource.ts';
import { isAlreadyExists, isNotFound } from '../../apis/meta/v1/errors.ts';
import { array, record, recordIn, text } from '../../apis/reading/unknown-value.ts';
import { Admission } from '../admission/admission.ts';
import { describeFileError } from '../files/file-error.ts';
import { AuthenticatorsStore } from '../oauth/factors/authenticators-store.ts';
import { resetFactors } from '../oauth/factors/factor-reset.ts';
import { PASSWORD_HASH, PasswordHasher } from '../oauth/passwords/password-hasher.ts';
import { passwordViolations } from '../oauth/passwords/password-policy.ts';
import { ClusterCredentialStore } from '../oauth/users/credential-store.ts';
import { IdentityStore } from '../oauth/users/identity-store.ts';
import type { ObjectStoreOptions } from '../oauth/users/object-store.ts';
import { ClusterUserDirectory } from '../oauth/users/user-directory.ts';
import { type Command, type CommandContext, runCommandLine } from './command.ts';
import { type Installation, requireUsers, withInstallation } from './installation.ts';
import { readPassword } from './password-input.ts';
import { readUserArguments, USER, type UserArguments, type UserOptions } from './user-arguments.ts';
import { restore } from './user-restore.ts';

const HASHING = {
  ...PASSWORD_HASH,
  queue: { concurrency: 1, length: 1, timeoutMs: 10_000 },
};

export const userCommand: Command = (context) =>
  runCommandLine(USER, context, async (line, command) => {
    const given = readUserArguments(line);
    return withInstallation(given.installation, context, async (installation) => {
      await requireUsers(installation, new AbortController().signal);
      const action = new UserAction(installation, context, command);
      switch (given.action) {
        case 'restore':
          return action.restore(given.file);
        case 'reset-factors':
          return action.resetFactors(given.name);
        default:
          return action.createOrSet(given);
      }
    });
  });

type CreateOrSet = Extract<UserArguments, { readonly action: 'create' | 'password' }>;

/** Changes users of one installation. The methods return exit codes. */
class UserAction {
  readonly #context: CommandContext;
  /** Beginning of the command line, for suggestions. */
  readonly #command: string;
  readonly #stores: ObjectStoreOptions;
  readonly #users: ClusterUserDirectory;
  readonly #credentials: ClusterCredentialStore;
  readonly #signal = new AbortController().signal;

  constructor({ client, platform }: Installation, context: CommandContext, command: string) {
    this.#context = context;
    this.#command = command;
    this.#stores = {
      client,
      group: groupName(platform),
      lookups: new Admission().lookups(),
      log: { debug: () => undefined, info: () => undefined, warn: () => undefined },
    };
    this.#users = new ClusterUserDirectory(this.#stores);
    this.#credentials = new ClusterCredentialStore(this.#stores);
  }

  async createOrSet({ action, name, options }: CreateOrSet): Promise<number> {
    const isNew = action === 'create';
    if (!isNew && !(await this.#users.read(name, this.#signal))) {
      throw new Error(`user ${name} not found; create it with: ${this.#command} create ${name}`);
    }
    // Read the password before writing anything, so that no user is created without it.
    const passwordHash = isNew && options.noPassword ? undefined : await this.#newHash(name);
    const user = isNew ? await this.#create(name, options) : await this.#users.read(name, this.#signal);
    if (!user?.metadata.uid) throw new Error(`user ${name} was deleted meanwhile`);
    if (passwordHash !== undefined) {
      const { mustChange } = options;
      const credential = { userUID: user.metadata.uid, passwordHash, mustChange, changedAt: Date.now() };
      await this.#credentials.set(name, credential, this.#signal).catch((cause: unknown) => {
        if (!isNew || !(cause instanceof Error)) throw cause;
        throw new Error(`the user ${name} was created without a password`, { cause });
      });
    }
    this.#context.print(
      isNew ? `user ${name} created\n` : `password of ${name} set; all sessions of the user are revoked\n`,
    );
    return 0;
  }

  #create(name: string, options: UserOptions): Promise<User> {
    const user = { metadata: { name }, spec: specOf(options) };
    return this.#users.create(user, this.#signal).catch((cause: unknown) => {
      if (!isAlreadyExists(cause)) throw cause;
      throw new Error(
        `user ${name} already exists; to set a new password: ${this.#command} password ${name}`,
      );
    });
  }

  /**
   * Reads a prompt or standard input: command-line arguments are visible to other users of the machine and in the shell
   * history.
   */
  async #newHash(name: string): Promise<string> {
    const password = await readPassword(this.#context.input, this.#context.printError);
    const violations = passwordViolations(password, name);
    if (violations.length > 0) throw new Error(`the password ${violations.join(' and ')}`);
    return new PasswordHasher(HASHING).hash(password, { caller: 'command' });
  }

  /** Prints the code before the sessions end, because it cannot be shown again. */
  async resetFactors(name: string): Promise<number> {
    const { uid } = (await this.#users.read(name, this.#signal))?.metadata ?? {};
    if (uid === undefined) throw new Error(`user ${name} not found`);
    const authenticators = new AuthenticatorsStore(this.#stores);
    const { code, notAfter } = await resetFactors({ name, uid }, authenticators, Date.now(), this.#signal);
    this.#context.print(
      `one-time code of ${name}: ${code}\nvalid until ${new Date(notAfter).toISOString()}; all sessions of the user end\n`,
    );
    await this.#deleteSessions(name);
    return 0;
  }

  /** One by one: the server has no permission to delete a collection. */
  async #deleteSessions(user: string): Promise<void> {
    const { client, group } = this.#stores;
    const path = `/apis/${group}/${VERSION}/${SESSION.plural}`;
    const signal = this.#signal;
    const list = await client.json({ path: `${path}?fieldSelector=spec.user%3D${user}`, signal });
    for (const session of array(record(list)['items'])) {
      const name = text(recordIn(session, 'metadata')['name']);
      await client.json({ method: 'DELETE', path: `${path}/${name}`, signal }).catch((error: unknown) => {
        if (!isNotFound(error)) throw error;
      });
    }
  }

  /** Exit code 1 if some objects of the file were not written. */
  async restore(file: string): Promise<number> {
    const { input, workingDirectory, print, printError } = this.#context;
    const backup = await (file === '-'
      ? textOf(input)
      : readFile(resolve(workingDirectory, file), 'utf8')
    ).catch((cause: unknown) => {
      throw new Error(`${file}: ${describeFileError(cause)}`, { cause });
    });
    let code = 0;
    const report = (line: string, skipped: boolean): void => {
      if (skipped) code = 1;
      (skipped ? printError : print)(`${line}\n`);
    };
    const stores = {
      users: this.#users,
      credentials: this.#credentials,
      identities: new IdentityStore(this.#stores),
      authenticators: new AuthenticatorsStore(this.#stores),
    };
    await restore(backup, stores, report, this.#signal);
    return code;
  }
}

function specOf({ email, emailVerified, displayName, groups }: UserOptions) {
  return {
    ...(email === undefined ? {} : { email, ...(emailVerified ? { verifiedEmail: email } : {}) }),
    ...(displayName === undefined ? {} : { displayName }),
    ...(groups.length === 0 ? {} : { groups: [...groups] }),
  };
}
