// Generates the Secrets of the server, without data. The server fills them, because it is not allowed to create Secrets.
import { KEYS_SECRET } from '../../server/oauth/keys/key-rotator.ts';
import type { KubernetesObject } from './kubernetes-object.ts';
import { type Names, SERVER } from './names.ts';
import { LABELS } from './workload.ts';

/** The signing keys, and the password of the first administrator: the only Secrets that the server writes. */
export const INSTALLED_SECRETS = [KEYS_SECRET, `${SERVER}-admin`] as const;
/** The Secrets that the server can also read: of OAuth clients, and of identity providers. */
export const CLIENT_SECRETS = `${SERVER}-clients`;
export const PROVIDER_SECRETS = `${SERVER}-identity-providers`;

/** Empty Secrets. `kubectl apply` keeps their data, which the server has written. */
export function installedSecrets({ namespace }: Names): KubernetesObject[] {
  return INSTALLED_SECRETS.map((name) => ({
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name, namespace, labels: LABELS },
    type: 'Opaque',
  }));
}
