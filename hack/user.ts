// `npm run user`: creates users, sets passwords, resets second factors, and restores users from a backup. Passwords are never command-line
// arguments.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { groupName, VERSION } from '../apis/iam/v1beta1/group-version.ts';
import { SESSION } from '../apis/iam/v1beta1/session-resource.ts';
import { isAlreadyExists } from '../apis/meta/v1/errors.ts';
import { Admission } from '../server/admission/admission.ts';
import { describeFileError } from '../server/files/file-error.ts';
import { AuthenticatorsStore } from '../server/oauth/factors/authenticators-store.ts';
import { resetFactors } from '../server/oauth/factors/factor-reset.ts';
import { PASSWORD_HASH, PasswordHasher } from '../server/oauth/passwords/password-hasher.ts';
import { passwordViolations } from '../server/oauth/passwords/password-policy.ts';
import { ClusterCredentialStore } from '../server/oauth/users/credential-store.ts';
import { IdentityStore } from '../server/oauth/users/identity-store.ts';
import { ClusterUserDirectory } from '../server/oauth/users/user-directory.ts';
import { readPlatform } from './generate/names.ts';
import { withGivenCluster } from './terminal/given-cluster.ts';
import { runScript } from './terminal/script.ts';
import { readUserArguments, USER, type UserArguments, type UserOptions } from './user/arguments.ts';
import { readPassword } from './user/password-input.ts';
import { restore } from './user/restore.ts';

const HASHING = {
  ...PASSWORD_HASH,
  queue: { concurrency: 1, length: 1, timeoutMs: 10_000 },
};

await runScript(USER, async (line) => {
  const given = readUserArguments(line);
  const platform =
    given.options.platform ?? (await readPlatform(join(import.meta.dirname, '../manifests/names.json')));
  return withGivenCluster(given.options.kubeconfig, async (client) => {
    const options = {
      client,
      group: groupName(platform),
      lookups: new Admission().lookups(),
      log: { debug: () => undefined, info: () => undefined, warn: () => undefined },
    };
    const stores = {
      users: new ClusterUserDirectory(options),
      credentials: new ClusterCredentialStore(options),
      identities: new IdentityStore(options),
    };
    const { signal } = new AbortController();
    if (given.command === 'restore') return restoreFrom(given.file, stores, signal);
    if (given.command === 'reset-factors') {
      const authenticators = new AuthenticatorsStore(options);
      const sessions = `/apis/${options.group}/${VERSION}/${SESSION.plural}?fieldSelector=spec.user%3D${given.name}`;
      await resetFactorsOf(given.name, stores.users, authenticators, signal);
      await client.json({ method: 'DELETE', path: sessions, signal });
      return 0;
    }
    await createOrSet(given, stores, signal);
    return 0;
  });
});

/** Prints the code before the sessions end, because it cannot be shown again. */
async function resetFactorsOf(
  name: string,
  users: ClusterUserDirectory,
  authenticators: AuthenticatorsStore,
  signal: AbortSignal,
): Promise<void> {
  const { uid } = (await users.read(name, signal))?.metadata ?? {};
  if (uid === undefined) throw new Error(`user ${name} not found`);
  const { code, notAfter } = await resetFactors({ name, uid }, authenticators, Date.now(), signal);
  process.stdout.write(
    `one-time code of ${name}: ${code}\nvalid until ${new Date(notAfter).toISOString()}; all sessions of the user end\n`,
  );
}

interface Stores {
  readonly users: ClusterUserDirectory;
  readonly credentials: ClusterCredentialStore;
  readonly identities: IdentityStore;
}

async function createOrSet(
  { command, name, options: given }: Extract<UserArguments, { readonly command: 'create' | 'password' }>,
  { users, credentials }: Stores,
  signal: AbortSignal,
): Promise<void> {
  if (command === 'password' && !(await users.read(name, signal))) {
    throw new Error(`user ${name} not found; create it with: npm run user -- create ${name}`);
  }
  // Read the password before writing anything, so that no user is created without it.
  const passwordHash =
    command === 'create' && given.noPassword ? undefined : await hashOf(await newPassword(name));
  const user =
    command === 'create'
      ? await users.create({ metadata: { name }, spec: specOf(given) }, signal).catch((cause: unknown) => {
          if (!isAlreadyExists(cause)) throw cause;
          throw new Error(
            `user ${name} already exists; to set a new password: npm run user -- password ${name}`,
          );
        })
      : await users.read(name, signal);
  if (!user?.metadata.uid) throw new Error(`user ${name} was deleted meanwhile`);
  if (passwordHash !== undefined) {
    const { mustChange } = given;
    const credential = { userUID: user.metadata.uid, passwordHash, mustChange, changedAt: Date.now() };
    await credentials.set(name, credential, signal).catch((cause: unknown) => {
      if (command !== 'create' || !(cause instanceof Error)) throw cause;
      throw new Error(`the user ${name} was created without a password`, { cause });
    });
  }
  process.stdout.write(
    command === 'create'
      ? `user ${name} created\n`
      : `password of ${name} set; all sessions of the user are revoked\n`,
  );
}

/** Exit code 1 if some objects of the file were not written. */
async function restoreFrom(file: string, stores: Stores, signal: AbortSignal): Promise<number> {
  const backup = await readFile(file, 'utf8').catch((cause: unknown) => {
    throw new Error(`${file}: ${describeFileError(cause)}`, { cause });
  });
  let code = 0;
  const report = (line: string, skipped: boolean): void => {
    if (skipped) code = 1;
    (skipped ? process.stderr : process.stdout).write(`${line}\n`);
  };
  await restore(backup, stores, report, signal);
  return code;
}

function specOf({ email, emailVerified, displayName, groups }: UserOptions) {
  return {
    ...(email === undefined ? {} : { email, ...(emailVerified ? { verifiedEmail: email } : {}) }),
    ...(displayName === undefined ? {} : { displayName }),
    ...(groups.length === 0 ? {} : { groups: [...groups] }),
  };
}

/**
 * Reads a prompt or standard input: command-line arguments are visible to other users of the machine and in the shell
 * history.
 */
async function newPassword(name: string): Promise<string> {
  const password = await readPassword(process.stdin, (text) => void process.stderr.write(text));
  const violations = passwordViolations(password, name);
  if (violations.length > 0) throw new Error(`the password ${violations.join(' and ')}`);
  return password;
}

function hashOf(password: string): Promise<string> {
  return new PasswordHasher(HASHING).hash(password, { caller: 'command' });
}
