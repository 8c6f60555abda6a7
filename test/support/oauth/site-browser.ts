// A browser at the sign-in pages of a test server: it keeps cookies, and submits the form of the last page.
import { expect } from 'chai';
import type { SignInSite } from './sign-in-site.ts';
import { PASSWORD } from './sign-in-state.ts';
import { authorizePath } from './sign-in-visit.ts';
import type { SiteRequest, SiteResponse } from './site-request.ts';

export class SiteBrowser {
  /** The replica that receives the next request. */
  site: Pick<SignInSite, 'ask'>;
  readonly cookies = new Map<string, string>();
  page = '';

  constructor(site: Pick<SignInSite, 'ask'>) {
    this.site = site;
  }

  async ask(path: string, request: SiteRequest = {}): Promise<SiteResponse> {
    const cookie = [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const headers = { accept: 'text/html', ...(cookie === '' ? {} : { cookie }), ...request.headers };
    const response = await this.site.ask(path, { ...request, headers });
    for (const set of response.headers['set-cookie'] ?? []) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(set) ?? [];
      if (/; Max-Age=0/.test(set)) this.cookies.delete(name);
      else this.cookies.set(name, value);
    }
    this.page = response.text;
    return response;
  }

  authorize(changes: Readonly<Record<string, string | undefined>> = {}): Promise<SiteResponse> {
    return this.ask(authorizePath(changes));
  }

  /** Submits the form of the last page. */
  submit(
    form: Readonly<Record<string, string>>,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<SiteResponse> {
    const [, action = ''] = /<form method="post" action="([^"]+)"/.exec(this.page) ?? [];
    const [, ticket = ''] = /name="ticket" value="([^"]+)"/.exec(this.page) ?? [];
    expect(ticket, this.page).to.not.equal('');
    return this.ask(action, { form: { ticket, ...form }, headers });
  }

  /** Submits the form of the last page that has this action. */
  submitTo(
    action: string,
    form: Readonly<Record<string, string>>,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<SiteResponse> {
    const [, ticket = ''] =
      new RegExp(`action="${action}">\\s*<input type="hidden" name="ticket" value="([^"]+)"`).exec(
        this.page,
      ) ?? [];
    expect(ticket, this.page).to.not.equal('');
    return this.ask(action, { form: { ticket, ...form }, headers });
  }

  /** Signs in at the client console, or where `changes` says. */
  async signIn(
    user = 'alice',
    changes: Readonly<Record<string, string | undefined>> = {},
  ): Promise<SiteResponse> {
    await this.authorize({ prompt: 'login', ...changes });
    return this.submit({ username: user, password: PASSWORD });
  }
}
