// Reads and writes the Secret with the signing keys. An operator requests a rotation with an annotation of the
// Secret.
import { recordIn, text } from '../../../apis/reading/unknown-value.ts';
import type { ClusterClient } from '../../cluster/connection/client.ts';
import { type KeySet, readKeySet, writeKeySet } from './key-set.ts';

/** `kubectl annotate secret … ks-apiserver/rotate-keys=graceful`; `npm run keys` writes it. */
export const ROTATE_ANNOTATION = 'ks-apiserver/rotate-keys';

const DATA_KEY = 'keys.json';

/**
 * An operator's request. `graceful`: publish a new key now and sign with it after `publishAhead`. `immediate`, for
 * compromised keys: sign with a new key at once; all signatures and MACs of the old keys become invalid.
 */
export type RotationRequest = 'graceful' | 'immediate';

export interface StoredKeys {
  readonly set: KeySet;
  readonly resourceVersion: string;
  /** The pending request of an operator. */
  readonly request: RotationRequest | undefined;
  /** The metadata, which a replace preserves. */
  readonly metadata: Readonly<Record<string, unknown>>;
}

export interface SecretLocation {
  readonly namespace: string;
  readonly name: string;
}

export class KeySecret {
  readonly #client: Pick<ClusterClient, 'json'>;
  readonly #location: SecretLocation;

  constructor(client: Pick<ClusterClient, 'json'>, location: SecretLocation) {
    this.#client = client;
    this.#location = location;
  }

  /** Throws NotFound when the Secret does not exist, and an Error when it contains no key set. */
  async read(signal: AbortSignal): Promise<StoredKeys> {
    return storedKeys(await this.#client.json({ path: this.#path, signal }));
  }

  /** Throws AlreadyExists when another replica has created the Secret. */
  async create(set: KeySet, signal: AbortSignal): Promise<StoredKeys> {
    const { name, namespace } = this.#location;
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

  /** Throws Conflict when the Secret has changed since `previous`. Removes the operator's request. */
  async replace(previous: StoredKeys, set: KeySet, signal: AbortSignal): Promise<StoredKeys> {
    const annotations = { ...recordIn(previous.metadata, 'annotations') };
    delete annotations[ROTATE_ANNOTATION];
    const metadata = { ...previous.metadata, annotations, resourceVersion: previous.resourceVersion };
    return storedKeys(
      await this.#client.json({ method: 'PUT', path: this.#path, json: secret(set, metadata), signal }),
    );
  }

  get #collection(): string {
    return `/api/v1/namespaces/${this.#location.namespace}/secrets`;
  }

  get #path(): string {
    return `${this.#collection}/${this.#location.name}`;
  }
}

/** Throws for an object that is not a Secret with a key set. */
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
