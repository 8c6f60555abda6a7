// Follows the credential of an identity provider, such as a password for a directory, in the Secret of the providers.
import type { Logger } from 'pino';
import { record, texts } from '../../../apis/reading/unknown-value.ts';
import type { ClusterClient } from '../../cluster/connection/client.ts';
import { followObject } from '../../cluster/reflector/followed-object.ts';
import { withoutLineEnd } from '../clients/secret-file.ts';

/** The Secret with the credentials of the providers, by their names. The manifests allow the server to read it. */
export const PROVIDERS_SECRET = 'ks-apiserver-identity-providers';

/**
 * Calls `changed` with the credential of the provider `key`, without its line end, after each change; undefined while there is none. Runs
 * until `signal` is aborted, and never throws.
 */
export async function followCredential(
  { client, log }: { readonly client: ClusterClient; readonly log: Pick<Logger, 'debug' | 'info' | 'warn'> },
  { namespace, key }: { readonly namespace: string; readonly key: string },
  changed: (value: string | undefined) => void,
  signal: AbortSignal,
): Promise<void> {
  const path = `/api/v1/namespaces/${namespace}/secrets`;
  const take = (secret: unknown): void => {
    const data = texts(record(secret)['data']);
    const value = withoutLineEnd(Buffer.from(data[key] ?? '', 'base64').toString('utf8'));
    const names = { secretName: PROVIDERS_SECRET, key };
    if (value === '') log.warn(names, 'secret not found');
    else log.info(names, 'secret loaded');
    changed(value === '' ? undefined : value);
  };
  await followObject({ client, log, path, namespace, name: PROVIDERS_SECRET }, take, signal);
}
