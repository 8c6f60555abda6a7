// The parts of identity providers and of browser sessions in a server without any.
import type { NameChoice } from '../../../server/oauth/endpoints/browser/name-choice.ts';
import type { RedirectSignIn } from '../../../server/oauth/endpoints/browser/redirect-sign-in.ts';
import type { AccountLinks } from '../../../server/oauth/providers/account-links.ts';
import type { SessionFreshness } from '../../../server/oauth/providers/session-freshness.ts';
import type { SessionValidityOptions } from '../../../server/oauth/sessions/session-validity.ts';
import type { IdentityDirectory } from '../../../server/oauth/users/identity-store.ts';

export const NO_IDENTITIES: IdentityDirectory = { synced: true, get: () => undefined };
/** The sessions and clients of a SessionValidity for sessions that no browser session has begun. */
export const NO_BROWSERS: Pick<SessionValidityOptions, 'sessions' | 'clients'> = {
  sessions: { has: () => false, read: async () => undefined },
  clients: { get: () => undefined },
};
export const NO_FRESHNESS: Pick<SessionFreshness, 'renewed'> = { renewed: async (session) => session };

const NOT_CONFIGURED = { refusal: 'This provider is not configured any more.' };
export const NO_REDIRECTS: Pick<RedirectSignIn, 'choices' | 'begin' | 'finish' | 'link'> = {
  choices: [],
  begin: async () => NOT_CONFIGURED,
  finish: async () => NOT_CONFIGURED,
  link: async () => NOT_CONFIGURED,
};
export const NO_NAMES: Pick<NameChoice, 'providerOf' | 'choose'> = {
  providerOf: () => undefined,
  choose: async () => 'not_linked',
};
export const NO_LINKS: Pick<AccountLinks, 'synced' | 'of' | 'providerOf' | 'link' | 'unlink' | 'canSignIn'> =
  {
    synced: true,
    of: () => [],
    // With the password.
    canSignIn: () => true,
    providerOf: () => undefined,
    link: async () => 'linked',
    unlink: async () => 'unlinked',
  };
