// Tests of OIDCProvider with oidc-provider, a real OpenID provider.

import { generateKeyPairSync } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { exportJWK } from 'jose';
import { pino } from 'pino';
import { OIDCProvider } from '../../../../server/oauth/providers/oidc/oidc-provider.ts';
import type { OIDCSettings } from '../../../../server/oauth/providers/oidc/oidc-settings.ts';
import type { AuthenticatedPerson, RedirectSecrets } from '../../../../server/oauth/providers/provider.ts';
import { RealOpenIDProvider } from '../../../support/oauth/real-openid-provider.ts';
import { CLIENT_ID, CLIENT_SECRET } from '../../../support/oauth/scripted-openid-provider.ts';
import { rejection } from '../../../support/rejection.ts';
import { scratchFolderEach } from '../../../support/scratch.ts';

const CALLBACK = 'https://platform.example.com/oauth/callback/company';

describe('OIDCProvider with oidc-provider', () => {
  const folder = scratchFolderEach();
  let upstream: RealOpenIDProvider;
  let provider: OIDCProvider;
  let settings: OIDCSettings;

  beforeEach(async () => {
    upstream = (await RealOpenIDProvider.start()).serve(CALLBACK);
    upstream.people.set('person-1', {
      preferred_username: 'ada',
      email: 'ada@example.com',
      groups: ['developers'],
    });
    const caFile = join(folder(), 'ca.crt');
    await writeFile(caFile, upstream.ca);
    settings = {
      issuer: upstream.issuer,
      clientID: CLIENT_ID,
      clientSecretRef: { name: 'ks-apiserver-identity-providers', key: 'clientSecret' },
      privateKeyRef: { name: '', key: '' },
      signOut: false,
      scopes: ['openid', 'profile', 'email', 'groups'],
      parameters: {},
      claims: { name: 'preferred_username', groups: 'groups' },
      caFile,
    };
    provider = newProvider();
  });
  afterEach(() => upstream[Symbol.asyncDispose]());

  const newProvider = (changes: Partial<OIDCSettings> = {}, secret = CLIENT_SECRET): OIDCProvider =>
    new OIDCProvider({
      name: 'company',
      displayName: 'Company account',
      settings: { ...settings, ...changes },
      secret: () => secret,
      log: pino({ level: 'silent' }),
    });

  async function signIn(login = 'person-1'): Promise<AuthenticatedPerson> {
    let secrets: RedirectSecrets = { nonce: '', verifier: '' };
    const stateWith = (given: RedirectSecrets): Promise<string> => {
      secrets = given;
      return Promise.resolve('state-1');
    };
    const url = await provider.begin({ redirectURI: CALLBACK, stateWith });
    return provider.finish(await upstream.signIn(url, login), 'state-1', secrets);
  }

  it('returns the person, and the changed groups at a revalidation', async () => {
    const { person, refreshToken } = await signIn();
    expect(person).to.include({
      issuer: upstream.issuer,
      subject: 'person-1',
      name: 'ada',
      email: 'ada@example.com',
    });
    expect(person.groups).to.deep.equal(['developers']);
    upstream.people.set('person-1', { preferred_username: 'ada', groups: ['operators'] });
    const proof = { issuer: upstream.issuer, subject: 'person-1', refreshToken };
    const result = await provider.revalidate(proof);
    expect(result).to.have.nested.property('person.groups').that.deep.equals(['operators']);
  });

  for (const [algorithm, { privateKey, publicKey }] of [
    ['ES256', generateKeyPairSync('ec', { namedCurve: 'P-256' })],
    ['RS256', generateKeyPairSync('rsa', { modulusLength: 2048 })],
  ] as const) {
    it(`authenticates the server with a private key, by ${algorithm}`, async () => {
      upstream.serve(CALLBACK, {
        token_endpoint_auth_method: 'private_key_jwt',
        token_endpoint_auth_signing_alg: algorithm,
        jwks: { keys: [await exportJWK(publicKey)] },
      });
      const privateKeyRef = { name: 'ks-apiserver-identity-providers', key: 'privateKey' };
      provider = newProvider(
        { privateKeyRef },
        privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
      );
      const { refreshToken } = await signIn();
      const proof = { issuer: upstream.issuer, subject: 'person-1', refreshToken };
      expect(await provider.revalidate(proof)).to.have.nested.property('person.subject', 'person-1');
      provider = newProvider();
      expect((await rejection(signIn())).message, 'the secret is not accepted').to.contain(
        'rejects this server',
      );
    });
  }

  it('reports a person who was deleted', async () => {
    const { refreshToken } = await signIn();
    upstream.people.delete('person-1');
    const proof = { issuer: upstream.issuer, subject: 'person-1', refreshToken };
    expect(await provider.revalidate(proof)).to.equal('gone');
  });

  it('reports an outage as an outage', async () => {
    const { refreshToken } = await signIn();
    const proof = { issuer: upstream.issuer, subject: 'person-1', refreshToken };
    await upstream[Symbol.asyncDispose]();
    expect(await rejection(provider.revalidate(proof))).to.have.property('name', 'ProviderUnavailable');
    upstream = await RealOpenIDProvider.start();
  });
});
