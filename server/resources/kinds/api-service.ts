// The APIService of a kind, and why kinds of aggregated APIs are not served.
import { API_SERVICES, type APIService, type Kind } from '../kind.ts';

/** kube-apiserver serves this group itself, without an APIService, and an APIService for the group has no effect. */
const AGGREGATOR: APIService = { aggregated: false, isCustom: false, revision: '' };

/** Returns the APIService of a kind, if it is known. */
export function apiServiceIn(
  serviceNamed: (name: string) => APIService | undefined,
  kind: Kind,
): APIService | undefined {
  return kind.group === API_SERVICES.group ? AGGREGATOR : serviceNamed(apiServiceNameOf(kind));
}

/** The name of the APIService of a group version. kube-apiserver rejects every other name. */
export function apiServiceNameOf({ group, version }: Pick<Kind, 'group' | 'version'>): string {
  return `${version}.${group}`;
}

/** Why the kind with this exact name is not served. */
export function aggregatedReason(name: string): string {
  return (
    `${name} are served by an aggregated API, which can show each caller other objects: request them under /apis, ` +
    'or name them in resources.callerIndependent of the configuration if every caller sees the same objects'
  );
}

export function unknownReason(kind: Kind): string {
  return `the APIService ${apiServiceNameOf(kind)} is not known yet`;
}

/** Why the kinds of an aggregated API that does not respond cannot be listed. */
export function outageOf(api: Pick<Kind, 'group' | 'version'>): string {
  return `the APIService ${apiServiceNameOf(api)} is not available, so that its resources cannot be listed`;
}
