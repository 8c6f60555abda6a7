// Changes the password of the user of the account page, who proves the current one.
import { OwnPasswordFormSchema } from '../../../../apis/oauth/forms.ts';
import type { RequestContext } from '../../../request/request-context.ts';
import { originOf, type SourceAddress } from '../../../request/source-address.ts';
import type { Form } from '../../http/form.ts';
import { FormDecoder } from '../../http/form-decoder.ts';
import type { Alert } from '../../page/form-fields.ts';
import { type PageOptions, redirect } from '../../page/page.ts';
import type { OwnPasswordChange } from '../../passwords/own-password-change.ts';
import type { PasswordSignIn } from '../../passwords/password-sign-in.ts';
import { byPassword, MULTIPLE_FACTORS } from '../../sessions/proof.ts';
import type { PasswordID } from '../../users/account.ts';
import { accountURL } from './account-visit.ts';
import type { BrowserSession, BrowserSessions } from './browser-sessions.ts';
import { PASSWORD_CHANGED, rejection } from './form-rejections.ts';
import { formAttempt } from './sign-in.ts';

interface AccountPasswordOptions {
  readonly browsers: Pick<BrowserSessions, 'begin'>;
  readonly passwords: Pick<PasswordSignIn, 'check'>;
  readonly passwordChange: Pick<OwnPasswordChange, 'change'>;
  readonly sourceOf: SourceAddress;
  /** Ms since the epoch. */
  readonly now: () => number;
}

/** Shows the account page again. */
type Again = (alert: Alert, options?: PageOptions) => void;

const FORM = new FormDecoder(OwnPasswordFormSchema);

export class AccountPassword {
  readonly #options: AccountPasswordOptions;

  constructor(options: AccountPasswordOptions) {
    this.#options = options;
  }

  async change(context: RequestContext, by: BrowserSession, form: Form, show: Again): Promise<void> {
    const { passwordChange, browsers, sourceOf, now } = this.#options;
    const { account } = by;
    const { password: current, new_password: password = '', repeated } = FORM.decode(form);
    const again = (text: string, field: string): void => show({ text, field });
    if (current === undefined) return again('Enter your current password.', 'password');
    if (password !== repeated) return again('The two new passwords are not the same.', 'repeated');
    const proven = await this.#verified(context, by, current, show);
    if (!proven) return;
    const outcome = await passwordChange.change(account, password, proven, context.signal);
    if (outcome === 'conflict') return again(PASSWORD_CHANGED.text, 'password');
    if ('invalid' in outcome) return again(`The new password ${outcome.invalid}.`, 'new_password');
    context.log.info({ user: account.name }, 'password changed on the account page');
    // The session of the browser began with the previous password. For a user with a second factor, the password alone is no new sign-in.
    const { amr, authTime } = by.authentication;
    const time = amr.includes(MULTIPLE_FACTORS) ? authTime : now();
    const authentication = byPassword(outcome.credential, time, amr);
    await browsers.begin(context, { account, authentication, ...originOf(context.request, sourceOf) });
    redirect(context.response, accountURL(account.name, 'password'));
  }

  /** Verifies the current password with the throttle of sign-ins, or shows the page again. */
  async #verified(
    context: RequestContext,
    by: BrowserSession,
    password: string,
    show: Again,
  ): Promise<PasswordID | undefined> {
    const { passwords, sourceOf } = this.#options;
    try {
      const { credential } = await passwords.check({
        user: by.account.name,
        password,
        ...formAttempt(context, sourceOf),
        method: 'password_change',
        acceptMustChange: true,
      });
      if (!credential) show({ text: 'You have no password here.' });
      return credential;
    } catch (error) {
      const rejected = rejection(error, { text: 'The current password is wrong.', field: 'password' });
      if (!rejected) throw error;
      show(rejected.alert, rejected.options);
      return undefined;
    }
  }
}
