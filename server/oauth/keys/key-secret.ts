import { recordIn, text } from '../../../apis/reading/unknown-value.ts';
import type { ClusterClient } from '../../cluster/connection/client.ts';
import { type KeySet, readKeySet, writeKeySet } from './key-set.ts';
import type { RotationRequest } from './rotation.ts';

/** `kubectl annotate secret … ks-apiserver/rotate-keys=graceful`: what `npm run keys` writes. */
export const ROTATE_ANNOTATION = 'ks-apiserver/rotate-keys';

const DATA_KEY = 'keys.json';

export interface StoredKeys {
  readonly set: KeySet;
  readonly resourceVersion: string;
  /** What an operator asked for and is still to be done. */
  readonly request: RotationRequest | undefined;
  /** Everything else in the Secret, which others may have put there. */
  readonly metadata: Readonly<Record<string, unknown>>;
}

export interface SecretPlace {
  readonly namespace: string;
  readonly name: string;
}

/** The Secret of the keys, read and written as a whole. */
export class KeySecret {
  readonly #client: Pick<ClusterClient, 'json'>;
  readonly #place: SecretPlace;

  constructor(client: Pick<ClusterClient, 'json'>, place: SecretPlace) {
    this.#client = client;
    this.#place = place;
  }

  /** Throws NotFound when there is none, and an error when it holds no keys. */
  async read(signal: AbortSignal): Promise<StoredKeys> {
    return storedKeys(await this.#client.json({ path: this.#path, signal }));
  }

  /** Throws AlreadyExists when another replica was faster. */
  async create(set: KeySet, signal: AbortSignal): Promise<StoredKeys> {
    const { name, namespace } = this.#place;
    const labels = { 'app.kubernetes.io/name': 'ks-apiserver' };
    return storedKeys(
      await this.#client.json({
        method: 'POST',
        path: this.#collection,
        json: secret(set, { name, namespace, labels }),
        signal,
      }),
    );
  }

  /** Throws Conflict when it was changed since it was read. Removes the operator's request. */
  async replace(previous: StoredKeys, set: KeySet, signal: AbortSignal): Promise<StoredKeys> {
    const annotations = { ...recordIn(previous.metadata, 'annotations') };
    delete annotations[ROTATE_ANNOTATION];
    const metadata = { ...previous.metadata, annotations, resourceVersion: previous.resourceVersion };
    return storedKeys(
      await this.#client.json({ method: 'PUT', path: this.#path, json: secret(set, metadata), signal }),
    );
  }

  get #collection(): string {
    return `/api/v1/namespaces/${this.#place.namespace}/secrets`;
  }

  get #path(): string {
    return `${this.#collection}/${this.#place.name}`;
  }
}

/** Throws on an object that is not such a Secret. */
export function storedKeys(object: unknown): StoredKeys {
  const metadata = recordIn(object, 'metadata');
  const data = recordIn(object, 'data')[DATA_KEY];
  const { resourceVersion } = metadata;
  if (typeof data !== 'string') throw new Error(`the Secret has no ${DATA_KEY}`);
  const request = recordIn(metadata, 'annotations')[ROTATE_ANNOTATION];
  return {
    set: readKeySet(Buffer.from(data, 'base64').toString('utf8')),
    resourceVersion: text(resourceVersion),
    request: request === 'graceful' || request === 'immediate' ? request : undefined,
    metadata,
  };
}

function secret(set: KeySet, metadata: Readonly<Record<string, unknown>>): object {
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    type: 'Opaque',
    metadata,
    data: { [DATA_KEY]: Buffer.from(writeKeySet(set)).toString('base64') },
  };
}
