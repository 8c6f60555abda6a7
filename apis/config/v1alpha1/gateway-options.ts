// The configuration section `gateway`: options of the gateway to kube-apiserver.
import { choiceOption, flagOption, section, textOption } from './option-types.ts';

/** Callers that the gateway impersonates: none, those with a client certificate, or also those with our tokens. */
const IMPERSONATED = ['none', 'certificates', 'all'] as const;

export const gateway = section(
  'The gateway to kube-apiserver: `/api`, `/apis`, `/openapi/v2`, `/openapi/v3` and `/version` on the TLS listener.',
  {
    enabled: flagOption(
      true,
      'Enables the gateway. It forwards the token of the caller, and has no permissions of its own.',
    ),
    impersonation: choiceOption(
      IMPERSONATED,
      'none',
      'Callers whom the gateway impersonates: `none`, those with a client certificate (`certificates`), or also those with a token of this server (`all`). Requires the component `gateway-constrained-impersonation` or `gateway-impersonation`.',
    ),
    proxyHost: textOption(
      '',
      'DNS name at which browsers can open the pages of backends, behind `proxy` of pods, Services and nodes. This host serves nothing else. Empty: browsers get 403 instead of pages, scripts and images.',
      {
        pattern: '^(?:(?:[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?\\.)+[a-z](?:[-a-z0-9]{0,61}[a-z0-9])?)?$',
        expects: 'a DNS name in lower case, with a dot and without a port',
      },
    ),
    acceleration: flagOption(
      false,
      'Serves gets, lists and watches of `/api` and `/apis` from the caches of `resources` if kube-apiserver could have sent the same response.',
    ),
  },
);
