import { VERSION } from '../../../apis/iam/v1beta1/group-version.ts';
import { USER, type User } from '../../../apis/iam/v1beta1/user.ts';
import { isRecord, optionalText, recordIn } from '../../../apis/reading/unknown-value.ts';
import type { Account } from './account.ts';

/**
 * A User object without what only the cluster needs. Undefined when it is on its way out, or is none: members that have
 * another type than the definition allows count as absent, except for `disabled`, where anything but false disables.
 */
export function readUser(object: unknown): User | undefined {
  const metadata = recordIn(object, 'metadata');
  const spec = recordIn(object, 'spec');
  const { name, uid, resourceVersion, deletionTimestamp } = metadata;
  if (typeof name !== 'string' || typeof uid !== 'string' || typeof resourceVersion !== 'string')
    return undefined;
  if (deletionTimestamp !== undefined) return undefined;
  const { generation } = metadata;
  const lastLoginTime = optionalText(recordIn(object, 'status')['lastLoginTime']);
  return {
    metadata: {
      name,
      uid,
      resourceVersion,
      ...(typeof generation === 'number' ? { generation } : {}),
      ...member('creationTimestamp', optionalText(metadata['creationTimestamp'])),
      ...member('finalizers', list(metadata['finalizers'], isText)),
      ...member('ownerReferences', list(metadata['ownerReferences'], isRecord)),
      ...member('labels', textMap(metadata['labels'])),
      ...member('annotations', textMap(metadata['annotations'])),
    },
    spec: {
      ...member('email', optionalText(spec['email'])),
      ...member('displayName', optionalText(spec['displayName'])),
      ...member('groups', list(spec['groups'], isText)),
      ...('disabled' in spec ? { disabled: spec['disabled'] !== false } : {}),
    },
    ...(lastLoginTime === undefined ? {} : { status: { lastLoginTime } }),
  };
}

export function accountOf({ metadata, spec }: User): Account {
  const { email = '', displayName = '', groups = [], disabled = false } = spec;
  // Groups of Kubernetes itself are refused when a user is written; should one get in all the same, it is not believed.
  const believed = groups.filter((group) => group !== '' && !group.includes(':'));
  return { name: metadata.name, uid: metadata.uid ?? '', email, displayName, groups: believed, disabled };
}

/** As it is written to the cluster and shown to clients. */
export function userObject(group: string, user: User): object {
  return { apiVersion: `${group}/${VERSION}`, kind: USER.kind, ...user };
}

const isText = (value: unknown): value is string => typeof value === 'string';

function list<Item>(value: unknown, isItem: (item: unknown) => item is Item): Item[] | undefined {
  return Array.isArray(value) ? value.filter(isItem) : undefined;
}

function textMap(value: unknown): Record<string, string> | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  return Object.fromEntries(Object.entries(value).filter(([, member]) => typeof member === 'string'));
}

function member<Name extends string, Value>(name: Name, value: Value | undefined): { [Key in Name]?: Value } {
  return value === undefined ? {} : ({ [name]: value } as { [Key in Name]?: Value });
}
