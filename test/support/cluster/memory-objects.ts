// Fake kube-apiserver client that stores objects in memory.
import { StatusError } from '../../../apis/meta/v1/errors.ts';
import type { ClusterClient, ClusterRequest } from '../../../server/cluster/connection/client.ts';

type Stored = Record<string, unknown> & { metadata: Record<string, unknown> };

/**
 * An in-memory kube-apiserver. A create fails if the object exists, and a replace needs the current resourceVersion.
 */
export class MemoryObjects implements Pick<ClusterClient, 'json'> {
  readonly objects = new Map<string, Stored>();
  /** Method and path of each request. */
  readonly requests: string[] = [];
  /** Called before each request. It can throw an error response, or delay the request. */
  before: (request: ClusterRequest) => Promise<void> | void = () => undefined;
  /** Called after each write. */
  changed: () => void = () => undefined;
  #version = 0;

  async json(request: ClusterRequest & { readonly json?: unknown }): Promise<unknown> {
    const { method = 'GET', path, json, signal } = request;
    signal.throwIfAborted();
    this.requests.push(`${method} ${path}`);
    await this.before(request);
    const found = this.objects.get(path);
    switch (method) {
      case 'POST': {
        const made = copy(json);
        const at = `${path}/${String(made.metadata['name'])}`;
        if (this.objects.has(at)) throw new StatusError(409, 'AlreadyExists', 'already exists');
        return this.#write(at, made);
      }
      case 'PUT': {
        const made = copy(json);
        if (!found) throw new StatusError(404, 'NotFound', 'not found');
        const expected = made.metadata['resourceVersion'];
        if (expected !== undefined && expected !== found.metadata['resourceVersion']) {
          throw new StatusError(409, 'Conflict', 'the object has been modified');
        }
        return this.#write(path, made);
      }
      case 'DELETE':
        if (!this.objects.delete(path)) throw new StatusError(404, 'NotFound', 'not found');
        this.changed();
        return {};
      default:
        if (!found) throw new StatusError(404, 'NotFound', 'not found');
        return structuredClone(found);
    }
  }

  #write(path: string, object: Stored): Stored {
    object.metadata['resourceVersion'] = String(++this.#version);
    this.objects.set(path, object);
    this.changed();
    return structuredClone(object);
  }
}

function copy(value: unknown): Stored {
  return JSON.parse(JSON.stringify(value)) as Stored;
}
