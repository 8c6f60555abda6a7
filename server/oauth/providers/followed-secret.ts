// Follows one key of a Secret, such as a password for another system.
import type { Logger } from 'pino';
import { record, texts } from '../../../apis/reading/unknown-value.ts';
import type { ClusterClient } from '../../cluster/connection/client.ts';
import { followObject } from '../../cluster/reflector/followed-object.ts';
import { withoutLineEnd } from '../clients/secret-file.ts';

interface SecretKey {
  readonly namespace: string;
  readonly name: string;
  readonly key: string;
}

/**
 * Calls `changed` with the text of the key, without its line end, after each change; undefined while there is none. Runs until `signal` is
 * aborted, and never throws.
 */
export async function followSecretKey(
  { client, log }: { readonly client: ClusterClient; readonly log: Pick<Logger, 'debug' | 'info' | 'warn'> },
  { namespace, name, key }: SecretKey,
  changed: (value: string | undefined) => void,
  signal: AbortSignal,
): Promise<void> {
  const path = `/api/v1/namespaces/${namespace}/secrets`;
  const take = (secret: unknown): void => {
    const data = texts(record(secret)['data']);
    const value = withoutLineEnd(Buffer.from(data[key] ?? '', 'base64').toString('utf8'));
    if (value === '') log.warn({ secretName: name, key }, 'secret not found');
    else log.info({ secretName: name, key }, 'secret loaded');
    changed(value === '' ? undefined : value);
  };
  await followObject({ client, log, path, namespace, name }, take, signal);
}
