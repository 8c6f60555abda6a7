import { newBadRequest } from '../../apis/meta/v1/errors.ts';
import type { Filter } from './exchange.ts';

/**
 * Behind the aggregator, kube-apiserver has already impersonated and removed these headers. A direct caller uses them to
 * get the rights of somebody else; ignoring them would answer with his own rights instead. The gateway's impersonation
 * will take this place.
 */
export const impersonation: Filter = ({ request: { headers } }) => {
  for (const header in headers) {
    if (header.startsWith('impersonate-')) {
      throw newBadRequest('impersonation is served through kube-apiserver only');
    }
  }
};
