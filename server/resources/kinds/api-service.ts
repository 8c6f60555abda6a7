// Reads APIServices: which group versions kube-apiserver serves itself, and which ones it forwards to an aggregated API.
// An aggregated API can show each caller other objects, so its kinds must not be cached without a word of the operator.
import { hash } from 'node:crypto';
import { record, recordIn, text } from '../../../apis/reading/unknown-value.ts';
import type { APIService, Kind } from '../kind.ts';

export const API_SERVICES_PATH = '/apis/apiregistration.k8s.io/v1/apiservices';

/** Label of the APIServices that kube-apiserver creates: `onstart` for its own group versions. */
const MANAGED_LABEL = 'kube-aggregator.kubernetes.io/automanaged';

export function apiServiceOf(object: unknown): APIService {
  const { uid, resourceVersion, labels } = recordIn(object, 'metadata');
  const spec = record(object)['spec'];
  const { service, group } = record(spec);
  const aggregated = typeof spec !== 'object' || (service !== undefined && service !== null);
  // The status of an aggregated API changes with its availability. A local group version can have been aggregated between
  // any two states that the server has seen.
  const state = aggregated ? JSON.stringify(spec) : text(resourceVersion);
  // The group of a CustomResourceDefinition has a dot.
  const isBuiltIn = record(labels)[MANAGED_LABEL] === 'onstart' || !text(group).includes('.');
  const isCustom = !aggregated && !isBuiltIn;
  return { aggregated, isCustom, revision: hash('sha256', `${text(uid)} ${state}`, 'base64url') };
}

/** kube-apiserver serves this group itself, without an APIService, and an APIService for the group has no effect. */
const AGGREGATOR_GROUP = 'apiregistration.k8s.io';
const AGGREGATOR: APIService = { aggregated: false, isCustom: false, revision: '' };

/** Returns the APIService of a kind, if it is known. */
export function apiServiceIn(
  services: { get(name: string): APIService | undefined },
  kind: Kind,
): APIService | undefined {
  return kind.group === AGGREGATOR_GROUP ? AGGREGATOR : services.get(apiServiceNameOf(kind));
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
