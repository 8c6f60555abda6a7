import { ObjectFollower } from './object-follower.ts';
import { Reflector, type ReflectorOptions } from './reflector.ts';

export interface FollowedObject extends Pick<ReflectorOptions, 'client' | 'log'> {
  /** Of its collection, in its namespace if it has one. */
  readonly path: string;
  readonly namespace?: string;
  readonly name: string;
}

/**
 * Follows the one object of this name until `signal` is aborted; never throws. `changed` is told it after the first list
 * and at each change, undefined where there is none; it must not throw. No other object is asked for: who follows one
 * need not have the right to see them all.
 */
export async function followObject(
  { client, log, path, namespace, name }: FollowedObject,
  changed: (object: unknown) => void,
  signal: AbortSignal,
): Promise<void> {
  const key = namespace === undefined ? name : `${namespace}/${name}`;
  const reflector = new Reflector({
    client,
    log,
    path,
    query: { fieldSelector: `metadata.name=${name}` },
    sink: new ObjectFollower((objects) => changed(objects.get(key))),
  });
  await reflector.run(signal);
}
