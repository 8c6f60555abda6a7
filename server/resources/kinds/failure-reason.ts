// Says why the list of a kind is not available, or not up to date.
import { messageOf } from '../../../apis/reading/thrown-value.ts';
import { isForbidden } from '../../cluster/reflector/reflector-retry.ts';

/** `failure`: of the reflector; undefined if it has not failed. */
export function failureReason(name: string, failure: unknown): string {
  if (isForbidden(failure)) {
    return `this server is not allowed to list ${name}: grant its ServiceAccount the verbs list and watch`;
  }
  return failure === undefined ? 'the cluster does not respond' : messageOf(failure);
}
