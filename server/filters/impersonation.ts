import { newBadRequest } from '../../apis/meta/v1/errors.ts';
import type { Filter } from './exchange.ts';

/**
 * Through the aggregator kube-apiserver has impersonated already and taken these headers off. From a direct caller
 * they ask for less than he may do himself: to answer as if they were not there would show him somebody else's rights
 * with his own. The gateway's impersonation takes this place.
 */
export const impersonation: Filter = ({ request: { headers } }) => {
  for (const header in headers) {
    if (header.startsWith('impersonate-')) {
      throw newBadRequest('impersonation is served through kube-apiserver only');
    }
  }
};
