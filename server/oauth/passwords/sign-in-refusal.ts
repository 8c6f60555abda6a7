// Errors of failed sign-ins. The cause of a wrong name or password is never visible; a person who has proven a password learns why an
// account cannot be used.
import { descriptionText, OAuthError } from '../../../apis/oauth/oauth-error.ts';
import type { NewPerson } from '../providers/identities.ts';
import type { LoginOutcome } from './login-records.ts';

/** A failed sign-in with a text for the sign-in page. */
export class SignInRefused extends OAuthError {
  readonly notice: string;

  constructor(status: 400 | 503, notice: string, description: string, cause: string) {
    super(status, status === 400 ? 'invalid_grant' : 'temporarily_unavailable', description, {
      cause: new Error(cause),
      ...(status === 503 ? { retryAfterSeconds: RETRY_SECONDS } : {}),
    });
    this.notice = notice;
  }
}

/** An identity provider has accepted the password of a person who has no user yet. A page can ask for the name. */
export class NameMissing extends SignInRefused {
  readonly newPerson: NewPerson;

  constructor(newPerson: NewPerson) {
    const text = refusalText('name_missing');
    super(400, text, descriptionText(text), 'name_missing');
    this.newPerson = newPerson;
  }
}

const RETRY_SECONDS = 5;

const ADMINISTRATOR = 'Ask an administrator of this platform.';

/** Outcomes after an identity provider has accepted the password. */
const REFUSALS: Partial<Record<LoginOutcome, string>> = {
  disabled: `Your account is disabled. ${ADMINISTRATOR}`,
  expired: 'Your password has expired. Change it where you usually do.',
  must_change: 'You must change your password first, where you usually do.',
  name_missing:
    'You have no user name here yet. Sign in with a browser once, for instance on the account page, and choose one.',
  restricted: `Your account cannot be used at this time or from here. ${ADMINISTRATOR}`,
  not_linked: `Your account is not linked to a user of this platform. ${ADMINISTRATOR}`,
  name_invalid: `No valid user name can be derived from the name of your account. ${ADMINISTRATOR}`,
  name_taken: `Your user name belongs to another user. ${ADMINISTRATOR}`,
  user_deleted: `Your user was deleted. ${ADMINISTRATOR}`,
  too_many_groups: `You have too many groups. ${ADMINISTRATOR}`,
};

/** The text for a person whom an identity provider has authenticated. */
export function refusalText(outcome: LoginOutcome): string {
  return REFUSALS[outcome] ?? `You cannot sign in. ${ADMINISTRATOR}`;
}

const WRONG = 'User name or password is wrong.';

/**
 * The error of an outcome. Undefined for a wrong name or password. `isProven`: an identity provider has accepted the password.
 * `notices`: the providers that do not work. While there are any, every failed sign-in has the same response, because the difference
 * would reveal which names have a local password.
 */
export function signInRefusal(
  outcome: LoginOutcome,
  { isProven, notices }: { readonly isProven: boolean; readonly notices: readonly string[] },
): SignInRefused | undefined {
  const text = isProven ? REFUSALS[outcome] : undefined;
  if (text !== undefined) return new SignInRefused(400, text, descriptionText(text), outcome);
  if (notices.length === 0 && outcome !== 'unavailable') return undefined;
  const others = notices.length > 0 ? notices.join(' ') : 'Your account cannot be verified at the moment.';
  const notice = `${WRONG} Or: ${others}`;
  return new SignInRefused(503, notice, descriptionText(notice), outcome);
}
