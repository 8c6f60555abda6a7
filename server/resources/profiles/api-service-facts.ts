// Reads APIServices: which group versions kube-apiserver serves itself, and which ones it forwards to an aggregated API.
// An aggregated API can show each caller other objects, so its kinds must not be cached without a word of the operator.
import { hash } from 'node:crypto';
import { record, recordIn, text } from '../../../apis/reading/unknown-value.ts';
import type { APIService } from '../kind.ts';

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
