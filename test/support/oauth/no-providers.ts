// The parts of identity providers in a server without any.
import type { RedirectSignIn } from '../../../server/oauth/endpoints/browser/redirect-sign-in.ts';
import type { AccountLinks } from '../../../server/oauth/providers/account-links.ts';
import type { SessionFreshness } from '../../../server/oauth/providers/session-freshness.ts';
import type { IdentityDirectory } from '../../../server/oauth/users/identity-store.ts';

export const NO_IDENTITIES: IdentityDirectory = { synced: true, get: () => undefined };
export const NO_FRESHNESS: Pick<SessionFreshness, 'renewed'> = { renewed: async (session) => session };

const NOT_CONFIGURED = { refusal: 'This provider is not configured any more.' };
export const NO_REDIRECTS: Pick<RedirectSignIn, 'choices' | 'begin' | 'finish' | 'link'> = {
  choices: [],
  begin: async () => NOT_CONFIGURED,
  finish: async () => NOT_CONFIGURED,
  link: async () => NOT_CONFIGURED,
};
export const NO_LINKS: Pick<AccountLinks, 'of' | 'providerOf' | 'unlink'> = {
  of: () => [],
  providerOf: () => undefined,
  unlink: async () => 'unlinked',
};
