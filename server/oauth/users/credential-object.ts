import { CREDENTIAL, type CredentialSpec } from '../../../apis/iam/v1beta1/credential.ts';
import { VERSION } from '../../../apis/iam/v1beta1/group-version.ts';
import { USER } from '../../../apis/iam/v1beta1/user.ts';
import { recordIn } from '../../../apis/reading/unknown-value.ts';
import type { Credential, NewCredential } from './account.ts';

/** Undefined when it is not one that somebody could sign in with. */
export function readCredential(object: unknown): Credential | undefined {
  const { uid, resourceVersion, deletionTimestamp } = recordIn(object, 'metadata');
  const { passwordHash, userUID, mustChange, changedTime } = recordIn(object, 'spec');
  if (typeof resourceVersion !== 'string' || deletionTimestamp !== undefined) return undefined;
  if (typeof uid !== 'string' || uid === '') return undefined;
  if (typeof passwordHash !== 'string' || typeof userUID !== 'string' || userUID === '') return undefined;
  const changedAt = typeof changedTime === 'string' ? Date.parse(changedTime) : Number.NaN;
  if (!Number.isFinite(changedAt)) return undefined;
  return {
    uid,
    passwordHash,
    userUID,
    mustChange: mustChange !== undefined && mustChange !== false,
    changedAt,
    resourceVersion,
  };
}

/** It belongs to its user: the cluster's garbage collector removes it with the user. */
export function credentialObject(
  group: string,
  user: string,
  credential: NewCredential,
  resourceVersion: string | undefined,
): object {
  const { passwordHash, userUID, mustChange, changedAt } = credential;
  const spec: CredentialSpec = {
    userUID,
    passwordHash,
    ...(mustChange ? { mustChange } : {}),
    changedTime: new Date(changedAt).toISOString(),
  };
  const apiVersion = `${group}/${VERSION}`;
  return {
    apiVersion,
    kind: CREDENTIAL.kind,
    metadata: {
      name: user,
      ...(resourceVersion === undefined ? {} : { resourceVersion }),
      ownerReferences: [{ apiVersion, kind: USER.kind, name: user, uid: userUID }],
    },
    spec,
  };
}
