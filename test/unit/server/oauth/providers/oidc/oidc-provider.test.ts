// Tests of OIDCProvider with a scripted provider: what it sends, and what a hostile or failing provider gets.

import { generateKeyPairSync, type KeyObject, X509Certificate } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { decodeJwt, decodeProtectedHeader, generateKeyPair } from 'jose';
import { pino } from 'pino';
import { record, text } from '../../../../../../apis/reading/unknown-value.ts';
import { OIDCProvider } from '../../../../../../server/oauth/providers/oidc/oidc-provider.ts';
import type { OIDCSettings } from '../../../../../../server/oauth/providers/oidc/oidc-settings.ts';
import type {
  AuthenticatedPerson,
  RedirectOptions,
  RedirectSecrets,
} from '../../../../../../server/oauth/providers/provider.ts';
import { issueServer, newCA } from '../../../../../support/certificates.ts';
import {
  CLIENT_ID,
  CLIENT_SECRET,
  ScriptedOpenIDProvider,
} from '../../../../../support/oauth/scripted-openid-provider.ts';
import { rejection } from '../../../../../support/rejection.ts';
import { scratchFolderEach } from '../../../../../support/scratch.ts';

const CALLBACK = 'https://platform.example.com/oauth/callback/company';

const pemOf = ({ privateKey }: { readonly privateKey: KeyObject }): string =>
  privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();

describe('OIDCProvider', () => {
  const folder = scratchFolderEach();
  let upstream: ScriptedOpenIDProvider;
  let secret: string | undefined;
  let settings: OIDCSettings;
  const warnings: string[] = [];

  beforeEach(async () => {
    upstream = await ScriptedOpenIDProvider.start();
    warnings.length = 0;
    secret = CLIENT_SECRET;
    const caFile = join(folder(), 'ca.crt');
    await writeFile(caFile, upstream.ca);
    settings = {
      issuer: upstream.issuer,
      clientID: CLIENT_ID,
      clientSecretRef: { name: 'ks-apiserver-clients', key: 'company' },
      privateKeyRef: { name: '', key: '' },
      signOut: false,
      scopes: ['openid', 'profile', 'email'],
      parameters: {},
      claims: { name: 'preferred_username', groups: 'groups' },
      caFile,
    };
  });
  afterEach(() => upstream[Symbol.asyncDispose]());

  const newProvider = (changes: Partial<OIDCSettings> = {}): OIDCProvider =>
    new OIDCProvider({
      name: 'company',
      displayName: 'Company account',
      settings: { ...settings, ...changes },
      secret: () => secret,
      log: pino({ level: 'warn' }, { write: (line) => warnings.push(text(record(JSON.parse(line))['msg'])) }),
    });

  async function begin(provider: OIDCProvider, options: Partial<RedirectOptions> = {}) {
    let secrets: RedirectSecrets = { nonce: '', verifier: '' };
    const stateWith = (given: RedirectSecrets): Promise<string> => {
      secrets = given;
      return Promise.resolve('state-1');
    };
    const url = await provider.begin({ redirectURI: CALLBACK, stateWith, ...options });
    return { url, secrets };
  }

  /** Signs in; `parameters` are added to the callback. */
  async function signIn(
    provider = newProvider(),
    parameters: Readonly<Record<string, string>> = {},
  ): Promise<AuthenticatedPerson> {
    const { url, secrets } = await begin(provider);
    upstream.nonce = url.searchParams.get('nonce') ?? '';
    const callback = new URL(CALLBACK);
    const usual = { code: 'code-1', state: 'state-1', iss: upstream.issuer };
    for (const [name, value] of Object.entries({ ...usual, ...parameters })) {
      if (value !== '') callback.searchParams.set(name, value);
    }
    return provider.finish(callback, 'state-1', secrets);
  }

  async function refused(attempt: Promise<unknown>, message: string | RegExp, name = 'SignInRefused') {
    const error = await rejection(attempt);
    expect(error).to.be.instanceOf(Error).with.property('name', name);
    expect(String(error)).to.match(new RegExp(message));
    expect(String(error)).not.to.include(CLIENT_SECRET);
  }

  describe('at a sign-in', () => {
    it('sends state, nonce, PKCE, scopes, parameters and hints', async () => {
      const provider = newProvider({ parameters: { hd: 'example.com' } });
      const { url, secrets } = await begin(provider, { loginHint: 'ada', again: true });
      expect(url.href).to.match(new RegExp(`^${upstream.issuer}/authorize\\?`));
      expect(Object.fromEntries(url.searchParams)).to.deep.include({
        client_id: CLIENT_ID,
        response_type: 'code',
        redirect_uri: CALLBACK,
        scope: 'openid profile email offline_access',
        state: 'state-1',
        nonce: secrets.nonce,
        code_challenge_method: 'S256',
        hd: 'example.com',
        login_hint: 'ada',
        prompt: 'login',
        max_age: '0',
      });
      expect(url.href).not.to.include(secrets.verifier);
      const usual = (await begin(newProvider())).url.searchParams;
      expect([usual.get('prompt'), Number(usual.get('max_age'))]).to.deep.equal([null, 10 * 365 * 86_400]);
    });

    it('does not apply the verification of one address to another one', async () => {
      const verified = { email: 'ada@example.com', email_verified: true };
      const other = { email: 'ceo@example.com' };
      for (const [inToken, inUserinfo, expected] of [
        [verified, other, { email: 'ceo@example.com', emailVerified: false }],
        [other, { email_verified: true }, { email: 'ceo@example.com', emailVerified: false }],
        [verified, {}, { email: 'ada@example.com', emailVerified: true }],
        [other, verified, { email: 'ada@example.com', emailVerified: true }],
      ] as const) {
        upstream.claims = { ...inToken };
        upstream.userinfo = { sub: 'subject-1', ...inUserinfo };
        expect((await signIn()).person).to.include(expected);
      }
    });

    it('returns the person with the claims of userinfo, and the refresh token', async () => {
      upstream.claims = {
        preferred_username: 'from the ID token',
        groups: ['old'],
        auth_time: 1_700_000_000,
      };
      upstream.userinfo = {
        sub: 'subject-1',
        preferred_username: 'Ada',
        name: 'Ada Lovelace',
        email: 'ada@example.com',
        email_verified: true,
        groups: ['developers', 'admins'],
      };
      expect(await signIn()).to.deep.equal({
        person: {
          issuer: upstream.issuer,
          subject: 'subject-1',
          name: 'Ada',
          email: 'ada@example.com',
          emailVerified: true,
          displayName: 'Ada Lovelace',
          groups: ['developers', 'admins'],
        },
        refreshToken: 'refresh-1',
        authTime: 1_700_000_000_000,
      });
      const [request] = upstream.tokenRequests;
      expect(request?.form.get('code_verifier')).to.match(/^[\w-]{43}$/);
      expect(request?.form.get('redirect_uri')).to.equal(CALLBACK);
      expect(request?.authorization).to.match(/^Basic /);
      expect(request?.form.has('client_secret')).to.equal(false);
    });

    it('sends the secret in the form if the provider supports nothing else', async () => {
      upstream.metadata = { token_endpoint_auth_methods_supported: ['client_secret_post'] };
      await signIn();
      const [request] = upstream.tokenRequests;
      expect(request?.authorization).to.equal(undefined);
      expect(request?.form.get('client_secret')).to.equal(CLIENT_SECRET);
    });

    it('names a private key that is not valid, and works as soon as it is', async () => {
      const privateKeyRef = { name: 'keys', key: 'privateKey' };
      const provider = newProvider({ privateKeyRef });
      for (const [pem, reason] of [
        [undefined, 'the Secret keys has no private key with the key privateKey'],
        ['secret', 'not a private key in PEM'],
        [pemOf(generateKeyPairSync('rsa', { modulusLength: 1024 })), 'not a private key in PEM'],
        [pemOf(generateKeyPairSync('ed25519')), 'not a private key in PEM'],
      ] as const) {
        secret = pem;
        await refused(begin(provider), reason, 'ProviderUnavailable');
        expect(provider.problem?.reason).to.include(reason);
      }
      secret = pemOf(generateKeyPairSync('ec', { namedCurve: 'P-256' }));
      await signIn(provider);
      expect(provider.problem).to.equal(undefined);
    });

    it('signs an assertion for the issuer, and in the form of Entra ID with a certificate', async () => {
      const ca = await newCA('assertion');
      const { cert } = await issueServer(ca);
      const raw = generateKeyPairSync('rsa', { modulusLength: 2048 });
      upstream.metadata = { token_endpoint_auth_signing_alg_values_supported: ['PS256', 'ES256'] };
      const privateKeyRef = { name: 'keys', key: 'privateKey' };
      const sent: Readonly<Record<string, unknown>>[] = [];
      for (const pem of [pemOf(raw), `${pemOf(raw)}${cert}`]) {
        secret = pem;
        await signIn(newProvider({ privateKeyRef }));
        const { form, authorization } = upstream.tokenRequests.at(-1) ?? {};
        expect([authorization, form?.get('client_secret')]).to.deep.equal([undefined, null]);
        const token = form?.get('client_assertion') ?? '';
        sent.push({ ...decodeProtectedHeader(token), ...decodeJwt(token) });
      }
      const [usual, entra] = sent;
      expect(usual).to.include({ alg: 'PS256', aud: upstream.issuer, iss: CLIENT_ID, sub: CLIENT_ID });
      expect(usual).to.not.have.property('x5t#S256');
      const thumbprint = new X509Certificate(cert).fingerprint256.replaceAll(':', '').toLowerCase();
      expect(Buffer.from(String(entra?.['x5t#S256']), 'base64url').toString('hex')).to.equal(thumbprint);
      expect(entra).to.include({ aud: `${upstream.issuer}/token` });
    });

    for (const [title, claim, value, expected] of [
      ['a single name', 'groups', 'one', ['one']],
      ['objects with names', 'groups', [{ name: 'one' }, { name: 'two' }], ['one', 'two']],
      ['a nested claim', '/realm_access/roles', { roles: ['one'] }, ['one']],
      ['a claim with a URL as its name', 'https://example.com/groups', ['one'], ['one']],
      ['no claim', 'other', ['one'], []],
    ] as const) {
      it(`reads groups from ${title}`, async () => {
        const name = claim.startsWith('/') ? 'realm_access' : claim === 'other' ? 'groups' : claim;
        upstream.userinfo = { sub: 'subject-1', [name]: value };
        const provider = newProvider({ claims: { ...settings.claims, groups: claim } });
        expect((await signIn(provider)).person.groups).to.deep.equal(expected);
      });
    }
  });

  describe('refuses', () => {
    for (const [title, parameters, message] of [
      ['another state', { state: 'x' }, 'state'],
      ['a response without state', { state: '' }, 'state'],
      ['a response of another issuer (mix-up)', { iss: 'https://evil.example' }, 'iss'],
      ['a response without issuer', { iss: '' }, 'iss'],
      ['an error of the provider', { error: 'access_denied' }, 'access_denied'],
    ] as const) {
      it(title, async () => {
        await refused(signIn(newProvider(), parameters), message);
        expect(upstream.tokenRequests).to.have.length(0);
      });
    }

    for (const [title, claims] of [
      ['another nonce', { nonce: 'x' }],
      ['no nonce', { nonce: undefined }],
      ['another issuer', { iss: 'https://evil.example' }],
      ['another audience', { aud: 'other' }],
      ['another authorized party', { azp: 'other' }],
      ['an authorized party that is no string', { azp: [CLIENT_ID] }],
      ['two audiences and no authorized party', { aud: [CLIENT_ID, 'other'] }],
      ['an expired ID token', { exp: 1 }],
      ['an ID token without subject', { sub: undefined }],
      ['a subject that is no string', { sub: 5 }],
      ['a subject that an Identity cannot store', { sub: 'x'.repeat(256) }],
      ['a subject that is equal to another one as UTF-8', { sub: 'x\ud800' }],
      ['a subject with NUL', { sub: 'x\0' }],
    ] as const) {
      it(`an ID token with ${title}`, async () => {
        upstream.claims = claims;
        upstream.userinfo = { sub: 'subject-1', ...claims };
        const error = await rejection(signIn());
        expect(error).to.have.property('name', 'SignInRefused');
      });
    }

    it('an ID token whose times differ by more than half a minute from the clock of this server', async () => {
      const now = Math.floor(Date.now() / 1000);
      for (const claims of [{ exp: now - 20 }, { nbf: now + 20 }]) {
        upstream.claims = claims;
        expect(await signIn()).to.have.nested.property('person.subject', 'subject-1');
      }
      for (const claims of [{ exp: now - 45 }, { nbf: now + 45 }, { auth_time: 'today' }]) {
        upstream.claims = claims;
        expect(await rejection(signIn())).to.have.property('name', 'SignInRefused');
      }
    });

    it('an ID token with a signature of another key, or none', async () => {
      upstream.key = (await generateKeyPair('ES256')).privateKey;
      await refused(signIn(), 'signature|verif');
      const none = ['{"alg":"none"}', '{"sub":"a"}'].map((part) => Buffer.from(part).toString('base64url'));
      upstream.tokens = { id_token: `${none.join('.')}.` };
      expect(await rejection(signIn())).to.have.property('name', 'SignInRefused');
    });

    it('a response without ID token', async () => {
      upstream.claims = undefined;
      expect(await rejection(signIn())).to.have.property('name', 'SignInRefused');
    });

    it('userinfo of another person', async () => {
      upstream.userinfo = { sub: 'subject-2', groups: ['admins'] };
      expect(await rejection(signIn())).to.have.property('name', 'SignInRefused');
    });

    it('groups that the provider replaces by a reference, and groups of an unknown form', async () => {
      upstream.userinfo = { sub: 'subject-1', _claim_names: { groups: 'src1' }, _claim_sources: {} };
      await refused(signIn(), 'too many');
      upstream.userinfo = { sub: 'subject-1' };
      upstream.claims = {
        _claim_names: { groups: 'src1' },
        _claim_sources: { src1: { endpoint: 'https://x' } },
      };
      await refused(signIn(), 'too many');
      const pointer = { ...settings.claims, groups: '/groups' };
      await refused(signIn(newProvider({ claims: pointer })), 'too many');
      upstream.claims = { hasgroups: true };
      await refused(signIn(), 'too many');
      upstream.claims = {};
      for (const groups of [5, { a: 1 }, [1], [['a']], [{ id: 'a' }]]) {
        upstream.userinfo = { sub: 'subject-1', groups };
        await refused(signIn(), 'the claim groups');
      }
    });

    it('tokens that cannot be sent or stored, without a word of them', async () => {
      for (const tokens of [{ access_token: 'secret\r\nX: y' }, { refresh_token: 'secret'.repeat(10_000) }]) {
        upstream.tokens = tokens;
        await refused(signIn(), '^(?!.*secret).*token is');
      }
    });

    it('an access token that is bound to a key, if userinfo needs it', async () => {
      upstream.tokens = { token_type: 'DPoP' };
      await refused(signIn(), 'Bearer');
    });

    it('metadata with an endpoint that is no https URL, before a person needs it', async () => {
      for (const metadata of [
        { authorization_endpoint: 'http://127.0.0.1/authorize' },
        { token_endpoint: undefined },
        { jwks_uri: 'file:///keys' },
        { userinfo_endpoint: ['https://127.0.0.1/'] },
        { end_session_endpoint: 'javascript:alert(1)' },
        { scopes_supported: {} },
      ]) {
        upstream.metadata = metadata;
        await refused(
          begin(newProvider()),
          `${Object.keys(metadata)[0]} in its metadata`,
          'ProviderUnavailable',
        );
      }
    });

    it('metadata of another issuer, also with another final slash', async () => {
      for (const issuer of ['https://evil.example', `${upstream.issuer}/`]) {
        upstream.metadata = { issuer };
        await refused(begin(newProvider()), 'issuer', 'ProviderUnavailable');
      }
    });
  });

  describe('at a sign-out', () => {
    const options = { redirectURI: 'https://platform.example.com/oauth/signed-out', state: 'state-2' };

    it('leads to the provider with the ID token, if the option is on', async () => {
      upstream.metadata = { end_session_endpoint: `${upstream.issuer}/end` };
      const provider = newProvider({ signOut: true });
      const { upstream: token = '' } = await signIn(provider);
      const url = provider.signOut(token, options);
      expect(url?.origin + (url?.pathname ?? '')).to.equal(`${upstream.issuer}/end`);
      expect(Object.fromEntries(url?.searchParams ?? [])).to.deep.equal({
        client_id: CLIENT_ID,
        id_token_hint: token,
        post_logout_redirect_uri: options.redirectURI,
        state: 'state-2',
      });
      expect(decodeJwt(token)).to.include({ sub: 'subject-1' });
      expect(await signIn(newProvider())).to.not.have.property('upstream');
    });

    it('stays here at a provider without the endpoint, with a warning', async () => {
      const provider = newProvider({ signOut: true });
      await signIn(provider);
      expect(provider.signOut('token', options)).to.equal(undefined);
      expect(provider.problem).to.equal(undefined);
      expect(provider.warning).to.include('oidc.signOut has no effect').and.include('end_session_endpoint');
      expect(warnings).to.deep.equal([provider.warning]);
      expect(newProvider().warning).to.equal(undefined);
    });
  });

  describe('during an outage', () => {
    for (const [title, response] of [
      ['503', { status: 503, body: 'down', type: 'text/plain' }],
      ['a page instead of JSON', { body: '<html>', type: 'text/html' }],
      ['invalid JSON', { body: '{' }],
      ['a redirect', { status: 302, headers: { Location: 'https://evil.example' }, body: '' }],
      ['a response of 2 MB', { body: 'x'.repeat(2 << 20) }],
    ] as const) {
      it(`is unavailable for ${title} of its metadata, and of its token endpoint`, async () => {
        const provider = newProvider();
        upstream.responses.set('/.well-known/openid-configuration', response);
        await refused(begin(provider), 'metadata', 'ProviderUnavailable');
        expect(provider.problem?.reason).to.include('cannot read the metadata');
        upstream.responses.clear();
        upstream.responses.set('/token', response);
        await refused(signIn(provider), '', 'ProviderUnavailable');
        expect(provider.problem, 'its metadata are known').to.equal(undefined);
      });
    }

    it('is unavailable if the provider does not accept its credential', async () => {
      const authenticate = { 'WWW-Authenticate': 'Basic realm="x"' };
      for (const response of [
        { status: 401, headers: authenticate, body: { error: 'invalid_client' } },
        { status: 401, body: { error: 'invalid_client' } },
        { status: 400, body: { error: 'unauthorized_client' } },
      ]) {
        upstream.responses.set('/token', response);
        await refused(signIn(), 'rejects this server', 'ProviderUnavailable');
      }
    });

    it('names a missing secret, and works as soon as it exists', async () => {
      secret = undefined;
      const provider = newProvider();
      await refused(begin(provider), 'ks-apiserver-clients', 'ProviderUnavailable');
      expect(provider.problem?.reason).to.include('key company');
      // Anonymous callers can read it.
      expect(provider.problem?.summary).to.equal('its client secret or private key is missing or invalid');
      secret = CLIENT_SECRET;
      await signIn(provider);
    });

    it('keeps the last good metadata', async () => {
      const provider = newProvider();
      await signIn(provider);
      upstream.responses.set('/.well-known/openid-configuration', { status: 503, body: '' });
      await signIn(provider);
    });
  });

  describe('at a revalidation', () => {
    const proof = () => ({ issuer: upstream.issuer, subject: 'subject-1', refreshToken: 'refresh-1' });

    it('returns the current groups and the new refresh token', async () => {
      upstream.userinfo = { sub: 'subject-1', groups: ['new'] };
      upstream.tokens = { refresh_token: 'refresh-2' };
      const result = await newProvider().revalidate(proof());
      expect(result).to.have.property('refreshToken', 'refresh-2');
      expect(result).to.have.nested.property('person.groups').that.deep.equals(['new']);
      expect(upstream.tokenRequests[0]?.form.get('refresh_token')).to.equal('refresh-1');
    });

    it('works without a new ID token and without a new refresh token', async () => {
      upstream.claims = undefined;
      upstream.tokens = { refresh_token: undefined };
      const result = await newProvider().revalidate(proof());
      expect(result).to.have.property('refreshToken', undefined);
    });

    it('ends the session for a revoked refresh token, another subject or another issuer', async () => {
      const provider = newProvider();
      expect(await provider.revalidate({ ...proof(), issuer: 'https://other.example' })).to.equal('gone');
      const { refreshToken: _none, ...without } = proof();
      expect(await provider.revalidate(without)).to.equal('not confirmable');
      upstream.claims = { sub: 'subject-2' };
      expect(await provider.revalidate(proof())).to.equal('gone');
      upstream.responses.set('/token', { status: 400, body: { error: 'invalid_grant' } });
      expect(await provider.revalidate(proof())).to.equal('gone');
    });

    it('takes over nothing from userinfo of another person, or from groups of an unknown form', async () => {
      for (const userinfo of [
        { sub: 'subject-2', groups: ['admins'] },
        { sub: 'subject-1', groups: [1] },
        {},
      ]) {
        upstream.userinfo = userinfo;
        await refused(newProvider().revalidate(proof()), '', 'ProviderUnavailable');
      }
    });

    it('takes over nothing from an ID token of another authorized party', async () => {
      upstream.claims = { azp: 'other' };
      await refused(newProvider().revalidate(proof()), 'azp', 'ProviderUnavailable');
      upstream.claims = { azp: CLIENT_ID };
      expect(await newProvider().revalidate(proof())).to.have.nested.property('person.subject', 'subject-1');
    });

    it('never ends a session for an outage or a wrong configuration', async () => {
      const provider = newProvider();
      for (const response of [
        { status: 503, body: 'down' },
        { status: 429, body: { error: 'slow_down' } },
        { status: 401, body: { error: 'invalid_client' } },
        { status: 400, body: { error: 'unauthorized_client' } },
        { status: 200, body: '<html>', type: 'text/html' },
      ]) {
        upstream.responses.set('/token', response);
        await refused(provider.revalidate(proof()), '', 'ProviderUnavailable');
      }
      upstream.responses.clear();
      upstream.responses.set('/userinfo', { status: 401, body: {} });
      upstream.tokens = { refresh_token: 'refresh-2' };
      const late = await rejection(provider.revalidate(proof()));
      // The first token is used up.
      expect(late).to.include({ name: 'ProviderUnavailable', refreshToken: 'refresh-2' });
    });

    it('keeps the next refresh token while the signature of the ID token cannot be verified', async () => {
      upstream.tokens = { refresh_token: 'refresh-2' };
      upstream.responses.set('/keys', { status: 503, body: 'down' });
      const late = await rejection(newProvider().revalidate(proof()));
      expect(late).to.include({ name: 'ProviderUnavailable', refreshToken: 'refresh-2' });
      upstream.responses.clear();
      upstream.tokens = { refresh_token: 'x'.repeat(10_000) };
      const long = await rejection(newProvider().revalidate(proof()));
      expect(long).to.include({ name: 'ProviderUnavailable', refreshToken: undefined });
    });
  });
});
