// Links a person of a directory to the user of the account page, who proves the password of the directory. Attempts count like those of
// the sign-in form, so that this form is no second way to guess.

import { DirectoryLinkFormSchema } from '../../../../apis/oauth/forms.ts';
import { NEVER_ABORTED } from '../../../concurrency/aborted.ts';
import type { RequestContext } from '../../../request/request-context.ts';
import type { SourceAddress } from '../../../request/source-address.ts';
import type { Form } from '../../http/form.ts';
import { FormDecoder } from '../../http/form-decoder.ts';
import { directoryLinkPage } from '../../page/directory-link-page.ts';
import type { Alert } from '../../page/form-fields.ts';
import { type PageOptions, redirect, writePage } from '../../page/page.ts';
import type { SignInPageTexts } from '../../page/sign-in-pages.ts';
import type { LoginOutcome, LoginRecords } from '../../passwords/login-records.ts';
import { refusalText } from '../../passwords/sign-in-refusal.ts';
import type { AccountLinks } from '../../providers/account-links.ts';
import type { ProviderChoice } from '../../providers/configured-provider.ts';
import { type AuthenticatedPerson, ProviderUnavailable } from '../../providers/provider.ts';
import type { ProviderSignIn } from '../../providers/provider-sign-in.ts';
import {
  type Attempted,
  beginAttempt,
  type CountedAttempt,
  type LoginThrottle,
  throttledError,
} from '../../throttle/login-throttle.ts';
import { accountURL } from './account-visit.ts';
import type { BrowserSession } from './browser-sessions.ts';
import { rejection, WRONG_PASSWORD } from './form-rejections.ts';
import { type LinkVerdict, linkVerdict } from './redirect-sign-in.ts';
import { formAttempt } from './sign-in.ts';

export interface DirectoryLinksOptions {
  /** Path of the form's handler. */
  readonly action: string;
  readonly texts: Pick<SignInPageTexts, 'platformName'>;
  /** Undefined without providers that verify passwords. */
  readonly directories: Pick<ProviderSignIn, 'choices' | 'prove'> | undefined;
  readonly links: Pick<AccountLinks, 'link'>;
  readonly throttle: Pick<LoginThrottle, 'attempt'>;
  readonly records: LoginRecords;
  readonly sourceOf: SourceAddress;
}

const FORM = new FormDecoder(DirectoryLinkFormSchema);

export class DirectoryLinks {
  readonly #options: DirectoryLinksOptions;

  constructor(options: DirectoryLinksOptions) {
    this.#options = options;
  }

  get choices(): readonly ProviderChoice[] {
    return this.#options.directories?.choices ?? [];
  }

  /** Handles the form for a directory. Undefined if a page was written. */
  async submitted(
    context: RequestContext,
    { account }: BrowserSession,
    form: Form,
  ): Promise<LinkVerdict | undefined> {
    const { action, texts } = this.#options;
    const { link, decision, username: user, password } = FORM.decode(form);
    const directory = this.choices.find(({ name }) => name === link);
    if (!directory) return { refusal: 'This provider is not configured any more.' };
    const show = (alert?: Alert, options: PageOptions = {}): undefined => {
      const ticket = form.get('ticket') ?? '';
      const view = { ...texts, action, ticket, account: account.name, directory, user: user ?? '', alert };
      writePage(context.response, directoryLinkPage(view), options);
    };
    if (decision === 'cancel') {
      redirect(context.response, accountURL(account.name));
      return undefined;
    }
    if (decision !== 'link') return show();
    if (user === undefined) return show({ text: 'Enter your user name.', field: 'username' });
    if (password === undefined) return show({ text: 'Enter your password.', field: 'password' });
    try {
      const proven = await this.#proven(context, account.name, directory, { user, password });
      if (typeof proven !== 'string') {
        const { person } = proven;
        const call = { signal: context.signal };
        const outcome = await this.#options.links.link(directory.name, person, account, call);
        const { name } = account;
        if (outcome === 'linked') {
          context.log.info({ user: name, provider: directory.name }, 'identity linked on the account page');
        }
        return linkVerdict(outcome, directory.displayName);
      }
      const isWrong = proven === 'unknown_user' || proven === 'wrong_password';
      return show(isWrong ? WRONG_PASSWORD : { text: refusalText(proven), field: 'password' });
    } catch (error) {
      if (error instanceof ProviderUnavailable) {
        return show({ text: `${directory.displayName} cannot be reached at the moment.` }, { status: 503 });
      }
      const rejected = rejection(error, WRONG_PASSWORD);
      if (!rejected) throw error;
      return show(rejected.alert, rejected.options);
    }
  }

  /** `signedIn`: the user of the page, whom the audit log names. Throws OAuthError 429, and ProviderUnavailable. */
  async #proven(
    context: RequestContext,
    signedIn: string,
    { name: provider }: ProviderChoice,
    { user, password }: { readonly user: string; readonly password: string },
  ): Promise<AuthenticatedPerson | Exclude<LoginOutcome, 'success'>> {
    const { throttle, sourceOf } = this.#options;
    const attempt = formAttempt(context, sourceOf);
    using attempts = new DisposableStack();
    const counted: CountedAttempt[] = [];
    const count = async (account: string, kind: Attempted, owner?: string): Promise<void> => {
      const of = { account, source: attempt.source, kind, user: owner };
      counted.push(attempts.use(await beginAttempt(throttle, of)));
    };
    let outcome: LoginOutcome = 'unavailable';
    try {
      await count(user.trim().toLowerCase(), 'account');
      const result = await this.#options.directories?.prove(provider, {
        user: user.trim(),
        password,
        resolved: (key, owner) => count(key, 'person', owner),
        // An attempt is completed although its client has disconnected, as at a sign-in.
        signal: NEVER_ABORTED,
        caller: attempt.caller,
      });
      if (result === undefined) throw new ProviderUnavailable('the provider is not configured any more');
      outcome = typeof result === 'string' ? result : 'success';
      const isWrong = outcome === 'unknown_user' || outcome === 'wrong_password';
      // A success ends no delay: it says nothing about the user of this platform with the typed name.
      if (isWrong) await Promise.all(counted.map((each) => each.failed()));
      return result;
    } catch (error) {
      throw throttledError(error, () => {
        outcome = 'throttled';
      });
    } finally {
      const { records } = this.#options;
      records.record(attempt, { method: 'account_link', outcome, user: signedIn, provider });
    }
  }
}
