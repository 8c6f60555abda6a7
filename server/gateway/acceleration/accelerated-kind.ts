// The handler that serves reads of one followed kind on its path in the Kubernetes API.

import { sourcePath } from '../../resources/kind.ts';
import type { FollowedKind } from '../../resources/kinds/followed-kind.ts';
import type { KindFacts } from '../../resources/profiles/kind-values.ts';
import type { Column, ResourceDefinition } from '../../resources/resource-definition.ts';
import { DEFAULT_OPTIONS, type ResourceHandler, resourceHandler } from '../../rest/resource-handler.ts';

/** Headers of kube-apiserver. */
const HEADERS = { 'Content-Type': 'application/json', 'Cache-Control': 'no-cache, private' };

/** `columns`: of Tables; a handler without columns must not receive a request for a Table. */
export function acceleratedKind(
  { kind, profile, cache, slicer }: FollowedKind,
  columns: readonly Column<KindFacts>[] = [],
): ResourceHandler {
  const definition: ResourceDefinition<KindFacts> = {
    ...kind,
    listKind: kind.custom?.listKind ?? `${kind.kind}List`,
    singular: kind.kind.toLowerCase(),
    verbs: ['get', 'list', 'watch'],
    source: { path: sourcePath(kind), apiVersion: '', kind: kind.kind },
    bareItems: !cache.head.isStored,
    emptyContinue: kind.custom !== undefined,
    facts: (object) => profile.facts(object),
    fields: profile.fields,
    columns,
    isExact: ({ facts }) => facts.isExact,
    conditions: profile.conditions,
  };
  const options = { ...DEFAULT_OPTIONS, headers: HEADERS, forwardable: true, slicer };
  return resourceHandler(definition, cache, options);
}
