// Restores users, passwords, identities and recovery codes from a `kubectl get -o json` backup. Existing ones are not changed.
import { MAX_CHANGED_GROUPS, type User } from '../../apis/iam/v1beta1/user-resource.ts';
import { isAlreadyExists, StatusError } from '../../apis/meta/v1/errors.ts';
import { explanationOf } from '../../apis/reading/thrown-value.ts';
import { array, record, recordIn, text } from '../../apis/reading/unknown-value.ts';
import {
  type AuthenticatorsStore,
  isEmpty,
  readAuthenticators,
  type StoredFactors,
} from '../oauth/factors/authenticators-store.ts';
import { hashOfCode, newRecoveryCode } from '../oauth/factors/recovery-codes.ts';
import { type ClusterCredentialStore, readCredential } from '../oauth/users/credential-store.ts';
import { type IdentityStore, readIdentity } from '../oauth/users/identity-store.ts';
import { readUser, type Users } from '../oauth/users/user-directory.ts';

interface RestoreTarget {
  readonly users: Pick<Users, 'create' | 'replace' | 'read'>;
  readonly credentials: Pick<ClusterCredentialStore, 'create'>;
  readonly identities: Pick<IdentityStore, 'create'>;
  readonly authenticators: Pick<AuthenticatorsStore, 'update'>;
}

/** Reports the result of one object; `skipped` if it was not written. */
type RestoreReport = (line: string, skipped: boolean) => void;

/** `backup`: a List as JSON. Existing objects are not changed. An object that the cluster rejects is reported, and left out. */
export async function restore(
  backup: string,
  { users, credentials, identities, authenticators }: RestoreTarget,
  report: RestoreReport,
  signal: AbortSignal,
): Promise<void> {
  const items = itemsOf(backup);
  for (const user of ofKind(items, 'User').map(readUser)) {
    if (!user) continue;
    const { name } = user.metadata;
    await unlessRejected(`user ${name}`, report, async () => {
      const isNew = await unlessExists(() => create(users, user, signal));
      report(`user ${name} ${isNew ? 'restored' : 'already exists'}`, !isNew);
    });
  }
  const uidInBackup = new Map(
    ofKind(items, 'User').map((user) => [recordIn(user, 'metadata')['name'], uidOf(user)]),
  );
  const withoutCodes = new Set<string>();
  // Before the passwords, so that at no time a password alone suffices.
  for (const stored of ofKind(items, 'Authenticators').map(readAuthenticators)) {
    // Those of a user that was recreated later are not valid.
    if (!stored || isEmpty(stored.factors) || uidInBackup.get(stored.user.name) !== stored.user.uid) {
      continue;
    }
    const { name } = stored.user;
    const isProtected = await unlessRejected(`recovery codes of ${name}`, report, () =>
      restoreCodes(stored, { users, authenticators }, report, signal),
    );
    if (!isProtected) withoutCodes.add(name);
  }
  for (const object of ofKind(items, 'Credential')) {
    const credential = readCredential(object);
    if (!credential) continue;
    const name = text(recordIn(object, 'metadata')['name']);
    // As in the cluster, the password of a user that was deleted or recreated is not valid.
    if (uidInBackup.get(name) !== credential.userUID) {
      report(`password of ${name} skipped: it is not valid for the user ${name}`, true);
      continue;
    }
    if (withoutCodes.has(name)) {
      report(`password of ${name} skipped: the recovery codes were not restored`, true);
      continue;
    }
    // A restored user has a new uid, and a Credential is valid only with the uid of its user.
    const userUID = (await users.read(name, signal))?.metadata.uid;
    if (userUID === undefined) {
      report(`password of ${name} skipped: the user does not exist`, true);
      continue;
    }
    await unlessRejected(`password of ${name}`, report, async () => {
      const isNew = await unlessExists(() => credentials.create(name, { ...credential, userUID }, signal));
      report(isNew ? `password of ${name} restored` : `${name} already has a password`, !isNew);
    });
  }
  for (const identity of ofKind(items, 'Identity').map(readIdentity)) {
    if (!identity) continue;
    const { name, uid: _, user, ...link } = identity;
    // The identity of a user that was deleted or recreated keeps the person out.
    const isCurrent = uidInBackup.get(user) === link.userUID && !withoutCodes.has(user);
    const userUID = isCurrent ? (await users.read(user, signal))?.metadata.uid : undefined;
    if (userUID === undefined) {
      report(`identity ${name} skipped: it is not valid for the user ${user}`, true);
      continue;
    }
    await unlessRejected(`identity ${name} of ${user}`, report, async () => {
      const isNew = await unlessExists(() =>
        identities.create({ ...link, user, userUID }, Date.now(), signal),
      );
      const existing = `already exists: if ${user} was deleted in this cluster, run kubectl delete identity ${name}, and restore again`;
      report(`identity ${name} of ${user} ${isNew ? 'restored' : existing}`, !isNew);
    });
  }
}

/**
 * Passkeys and the secret of an app are valid only with the uid of the user, which is new. A user who had any of them needs a recovery
 * code; without one, an unknown one, so that the password alone does not suffice.
 */
async function restoreCodes(
  { user: { name }, factors: { recoveryCodes } }: StoredFactors,
  { users, authenticators }: Pick<RestoreTarget, 'users' | 'authenticators'>,
  report: RestoreReport,
  signal: AbortSignal,
): Promise<void> {
  const uid = (await users.read(name, signal))?.metadata.uid;
  if (uid === undefined) return report(`recovery codes of ${name} skipped: the user does not exist`, true);
  // An invalid object has a code without a hash.
  const known = recoveryCodes.filter(({ hash }) => hash !== '');
  const hasCodes = known.length > 0;
  const codes = hasCodes ? known : [{ hash: hashOfCode(newRecoveryCode()) }];
  const written = await authenticators.update(
    { name, uid },
    (current) => (isEmpty(current) ? { passkeys: [], recoveryCodes: codes } : undefined),
    signal,
  );
  if (!written) report(`${name} already has second factors`, true);
  else if (hasCodes) report(`recovery codes of ${name} restored`, false);
  else report(`${name} has no recovery code: issue a one-time code with user reset-factors ${name}`, true);
}

function uidOf(object: unknown): unknown {
  return recordIn(object, 'metadata')['uid'];
}

function itemsOf(backup: string): readonly unknown[] {
  let list: unknown;
  try {
    list = JSON.parse(backup);
  } catch {
    // The message of the parser would repeat a part of the file.
  }
  const items = array(record(list)['items']);
  if (ofKind(items, 'User').length === 0) {
    throw new Error(
      'the file contains no users in the format of kubectl get users.…,credentials.…,identities.… -o json',
    );
  }
  return items;
}

function ofKind(items: readonly unknown[], kind: string): readonly unknown[] {
  return items.filter((item) => record(item)['kind'] === kind);
}

/** Grants the groups in several writes, because admission limits the number that one write may change. */
async function create(users: RestoreTarget['users'], user: User, signal: AbortSignal): Promise<void> {
  const { name, labels, annotations } = user.metadata;
  const metadata = { name, ...(labels ? { labels } : {}), ...(annotations ? { annotations } : {}) };
  const { groups = [], ...rest } = user.spec;
  const specWith = (count: number): User['spec'] => ({
    ...rest,
    ...(groups.length > 0 ? { groups: groups.slice(0, count) } : {}),
  });
  let granted = MAX_CHANGED_GROUPS;
  let written = await users.create({ metadata, spec: specWith(granted) }, signal);
  while (granted < groups.length) {
    granted += MAX_CHANGED_GROUPS;
    written = await users.replace({ ...written, spec: specWith(granted) }, signal);
  }
}

/** Forbidden, invalid, and invalid without the reason, which contains secrets. */
const REJECTIONS: ReadonlySet<number> = new Set([403, 422, 500]);

/** Reports that the cluster rejects an object, and returns false: the others must not be lost with it. */
async function unlessRejected(
  what: string,
  report: RestoreReport,
  write: () => Promise<void>,
): Promise<boolean> {
  try {
    await write();
    return true;
  } catch (error) {
    if (!(error instanceof StatusError && REJECTIONS.has(error.code))) throw error;
    report(`${what} not restored: ${explanationOf(error)}`, true);
    return false;
  }
}

/** Returns false if the object exists already. */
async function unlessExists(write: () => Promise<unknown>): Promise<boolean> {
  try {
    await write();
    return true;
  } catch (error) {
    if (isAlreadyExists(error)) return false;
    throw error;
  }
}
