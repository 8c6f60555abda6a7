// Selects the objects of some namespaces from a snapshot.
import type { ObjectSnapshot } from '../../cache/object-snapshot.ts';
import type { StoredObject } from '../../cache/stored-object.ts';

/**
 * Yields the objects in the namespaces, or all objects if `namespaces` is undefined, in arrays of neighbours. For the
 * kind Namespace, it yields the namespaces themselves. The time is proportional to the number of yielded objects.
 */
export function* objectsIn<Facts>(
  snapshot: ObjectSnapshot<Facts>,
  namespaces: readonly string[] | undefined,
): Generator<readonly StoredObject<Facts>[]> {
  if (!namespaces) {
    for (const chunk of snapshot.chunks) yield chunk.objects;
    return;
  }
  for (const namespace of namespaces) {
    // Only the kind Namespace has keys without a slash here. A caller can type the key of another object as a namespace.
    const itself = namespace.includes('/') ? undefined : snapshot.get(namespace);
    if (itself) yield [itself];
    else yield* snapshot.inNamespace(namespace);
  }
}
