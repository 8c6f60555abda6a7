// The configuration section `gateway`: options of the gateway to kube-apiserver.
import { choiceOption, flagOption, section, textOption } from './option-types.ts';

/** Callers that the gateway impersonates: none, those with a client certificate, or also those with our tokens. */
const IMPERSONATED = ['none', 'certificates', 'all'] as const;

export const gateway = section(
  'The gateway to kube-apiserver: `/api`, `/apis`, `/openapi/v2`, `/openapi/v3` and `/version` on the TLS listener.',
  {
    enabled: flagOption(true, 'Enables the [gateway](gateway.md).'),
    impersonation: choiceOption(
      IMPERSONATED,
      'none',
      'Callers whom the gateway [impersonates](gateway.md#impersonation): those with a client certificate, or also those with a token of this server.',
    ),
    proxyHost: textOption(
      '',
      'DNS name at which browsers can open the [pages of backends](gateway.md#pages-of-backends). Empty: they get 403.',
      {
        pattern: '^(?:(?:[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?\\.)+[a-z](?:[-a-z0-9]{0,61}[a-z0-9])?)?$',
        expects: 'a DNS name in lower case, with a dot and without a port',
      },
    ),
    acceleration: flagOption(
      false,
      '[Serves](gateway.md#acceleration-of-reads) gets, lists and watches of `/api` and `/apis` from the caches.',
    ),
  },
);
