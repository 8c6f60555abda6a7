// Puts users and their passwords back where `kubectl get -o json` has saved them. A password belongs to the uid of its
// user, and a cluster gives its own; so each is written for the uid that the user has now.
import type { User } from '../../apis/iam/v1beta1/user.ts';
import { isAlreadyExists } from '../../apis/meta/v1/errors.ts';
import { array, record, recordIn, text } from '../../apis/reading/unknown-value.ts';
import { type ClusterCredentialStore, readCredential } from '../../server/oauth/users/credential-store.ts';
import { readUser, type Users } from '../../server/oauth/users/user-directory.ts';
import { MAX_CHANGED_GROUPS } from '../generate/admission.ts';

export interface RestoreTarget {
  readonly users: Pick<Users, 'create' | 'replace' | 'read'>;
  readonly credentials: Pick<ClusterCredentialStore, 'create'>;
}

/** What became of one object that was saved; `left` when it was not written. */
export type Restored = (line: string, left: boolean) => void;

/** `saved`: a List as JSON. Who is there already, or has a password already, stays as it is. */
export async function restore(
  saved: string,
  { users, credentials }: RestoreTarget,
  restored: Restored,
  signal: AbortSignal,
): Promise<void> {
  const items = itemsOf(saved);
  for (const user of ofKind(items, 'User').map(readUser)) {
    if (!user) continue;
    const { name } = user.metadata;
    const isNew = await unlessThere(() => create(users, user, signal));
    restored(`user ${name} ${isNew ? 'restored' : 'exists already'}`, !isNew);
  }
  for (const object of ofKind(items, 'Credential')) {
    const credential = readCredential(object);
    if (!credential) continue;
    const name = text(recordIn(object, 'metadata')['name']);
    const userUID = (await users.read(name, signal))?.metadata.uid;
    if (userUID === undefined) {
      restored(`password of ${name} left out: there is no such user`, true);
      continue;
    }
    const isNew = await unlessThere(() => credentials.create(name, { ...credential, userUID }, signal));
    restored(isNew ? `password of ${name} restored` : `${name} has a password already`, !isNew);
  }
}

function itemsOf(saved: string): readonly unknown[] {
  let list: unknown;
  try {
    list = JSON.parse(saved);
  } catch {
    // Its words would repeat a part of the text.
  }
  const items = array(record(list)['items']);
  if (ofKind(items, 'User').length === 0) {
    throw new Error('the file holds no users as kubectl get users.…,credentials.… -o json writes them');
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
  let given = MAX_CHANGED_GROUPS;
  let written = await users.create({ metadata, spec: specWith(given) }, signal);
  while (given < groups.length) {
    given += MAX_CHANGED_GROUPS;
    written = await users.replace({ ...written, spec: specWith(given) }, signal);
  }
}

async function unlessThere(write: () => Promise<void>): Promise<boolean> {
  try {
    await write();
    return true;
  } catch (error) {
    if (isAlreadyExists(error)) return false;
    throw error;
  }
}
