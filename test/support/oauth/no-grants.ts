// Grants that reject every request, for token endpoints of which a test uses some grants only.
import { invalidGrant } from '../../../apis/oauth/oauth-error.ts';
import type { TokenEndpointOptions } from '../../../server/oauth/endpoints/token.ts';
import type { Grant } from '../../../server/oauth/grants/grant.ts';

const none: Grant = { exchange: () => Promise.reject(invalidGrant('the test has no such grant')) };

export const NO_GRANTS: TokenEndpointOptions['grants'] = {
  password: none,
  refresh_token: none,
  authorization_code: none,
  'urn:ietf:params:oauth:grant-type:device_code': none,
};
