// Tests of the authorization code flow with a loopback redirect. The test is the browser.
import { once } from 'node:events';
import { connect } from 'node:net';
import { expect } from 'chai';
import { NoBrowserError, signInWithBrowser } from '../../../login/browser-flow.ts';
import { rejection } from '../../support/rejection.ts';

const ISSUER = 'https://api.example.com/oauth';

type Form = Readonly<Record<string, string>>;

function idToken(claims: object): string {
  return `e30.${Buffer.from(JSON.stringify(claims)).toString('base64url')}.c2ln`;
}

/** Signs in; `open` receives the parameters of the authorization request. */
function signIn(open: (parameters: URLSearchParams) => Promise<void>, claims: object = {}) {
  const forms: Form[] = [];
  let nonce: string | null = null;
  const result = signInWithBrowser({
    clientID: 'kubectl',
    print: () => undefined,
    open: async (url) => {
      const { searchParams } = new URL(url);
      nonce = searchParams.get('nonce');
      await open(searchParams);
    },
    server: {
      issuer: ISSUER,
      endpoint: () => new URL(`${ISSUER}/authorize?x=1`),
      post: (_endpoint, form) => {
        forms.push(form);
        const token = idToken({ iss: ISSUER, aud: 'kubectl', sub: 'alice', nonce, ...claims });
        return Promise.resolve({ access_token: 'a', refresh_token: 'r', expires_in: 100, id_token: token });
      },
    },
  });
  return { result, forms };
}

/** The browser follows the redirect of the server. */
async function redirect(request: URLSearchParams, parameters: Form): Promise<Response> {
  const url = new URL(request.get('redirect_uri') ?? '');
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
  return fetch(url);
}

const stateOf = (request: URLSearchParams): string => request.get('state') ?? '';

describe('the sign-in with a browser', () => {
  it('closes connections that the browser has opened without a request', async () => {
    const closed = Promise.withResolvers<void>();
    const { result } = signIn(async (request) => {
      const { port } = new URL(request.get('redirect_uri') ?? '');
      const socket = connect(Number(port), '127.0.0.1').on('close', closed.resolve);
      await once(socket, 'connect');
      const page = await redirect(request, { state: stateOf(request), iss: ISSUER, code: 'c' });
      expect(await page.text()).to.contain('continues in the terminal');
    });
    await result;
    await closed.promise;
  });

  it('ignores responses with another state or issuer, and other requests', async () => {
    const { result, forms } = signIn(async (request) => {
      const state = stateOf(request);
      const refused: Form[] = [
        { state: 'guessed', iss: ISSUER, code: 'other' },
        { state, iss: 'https://evil.example.com', code: 'other' },
        { state, code: 'other' },
        { state: 'guessed', iss: ISSUER, error: 'access_denied' },
      ];
      for (const parameters of refused) expect((await redirect(request, parameters)).status).to.equal(400);
      const icon = await fetch(`${request.get('redirect_uri')}/favicon.ico`);
      expect(icon.status).to.equal(404);
      await redirect(request, { state, iss: ISSUER, code: 'c' });
    });
    await result;
    expect(forms.map(({ code }) => code)).to.deep.equal(['c']);
  });

  it('fails with the reason of the server, without control characters', async () => {
    const { result } = signIn(async (request) => {
      const refusal = { error: 'access_denied', error_description: 'the user\u001b[2J cancelled' };
      await redirect(request, { state: stateOf(request), iss: ISSUER, ...refusal });
    });
    expect((await rejection(result)).message).to.equal('the sign-in was refused: the user [2J cancelled');
  });

  it('rejects the ID token of another sign-in', async () => {
    for (const claims of [
      { nonce: 'x' },
      { iss: 'https://evil.example.com' },
      { aud: 'console' },
      { sub: 1 },
    ]) {
      const { result } = signIn(async (request) => {
        await redirect(request, { state: stateOf(request), iss: ISSUER, code: 'c' });
      }, claims);
      expect((await rejection(result)).message).to.contain('ID token of another sign-in');
    }
  });

  it('fails if no browser opens', async () => {
    const failure = new NoBrowserError('no browser');
    expect(await rejection(signIn(() => Promise.reject(failure)).result)).to.equal(failure);
  });
});
