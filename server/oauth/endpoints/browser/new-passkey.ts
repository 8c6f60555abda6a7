// A passkey that the form of the page that adds one contains, at a sign-in or on the account page.

import { printable } from '../../../observability/printable-text.ts';
import type { RequestContext } from '../../../request/request-context.ts';
import {
  type Ceremony,
  type NewPasskey,
  PasskeyRejected,
  verifyRegistration,
} from '../../factors/passkeys.ts';
import type { Alert } from '../../page/form-fields.ts';
import { shortUserAgent } from '../../page/user-agent.ts';
import type { UserID } from '../../users/account.ts';

export interface CreatedPasskey {
  /** JSON of the browser. */
  readonly text: string;
  /** As typed. */
  readonly name: string;
}

/** The proposed name of a passkey. */
export function deviceName({ request }: RequestContext): string {
  return shortUserAgent(request.headers['user-agent'] ?? '');
}

/** Returns an alert for the user if the passkey is not accepted. */
export async function verifiedPasskey(
  { log }: RequestContext,
  user: UserID,
  ceremony: Ceremony,
  { text, name }: CreatedPasskey,
): Promise<NewPasskey | Alert> {
  const named = name.trim();
  if (named === '') return { text: 'Enter a name for the passkey.', field: 'name' };
  try {
    return await verifyRegistration(ceremony, { text, name: named });
  } catch (error) {
    if (!(error instanceof PasskeyRejected)) throw error;
    log.info({ user: user.name, reason: printable(error.message, 200) }, 'passkey rejected');
    return { text: 'The passkey was not accepted. Try again.' };
  }
}
