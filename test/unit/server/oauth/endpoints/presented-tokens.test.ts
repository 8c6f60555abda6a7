// Tests of ID tokens in the parameter `id_token_hint`.
import { expect } from 'chai';
import { decodeProtectedHeader } from 'jose';
import { IDTokenHints } from '../../../../../server/oauth/endpoints/presented-tokens.ts';
import { ImportedKeys } from '../../../../../server/oauth/keys/key-ring.ts';
import { rotated } from '../../../../../server/oauth/keys/key-rotator.ts';
import { firstSet, type KeySet, newKey } from '../../../../../server/oauth/keys/key-set.ts';
import { TokenIssuer } from '../../../../../server/oauth/tokens/token-issuer.ts';
import { newSession } from '../../../../support/oauth/new-session.ts';
import { newClient } from '../../../../support/oauth/oauth-clients.ts';
import { ISSUER } from '../../../../support/oauth/sign-in-site.ts';
import { ALICE } from '../../../../support/oauth/signed-in.ts';

const POLICY = { rotationInterval: 1000, publishAhead: 100, tokenLifetime: 500, macLifetime: 5000 };

describe('an ID token as a hint', () => {
  const session = newSession();

  async function hintUnder(set: KeySet): Promise<string> {
    const keys = await ImportedKeys.from(set);
    const issuer = new TokenIssuer({ keys, issuer: () => ISSUER, audience: 'platform' });
    return issuer.idToken({ client: newClient('console'), account: ALICE, session, scopes: [] });
  }
  const read = async (hint: string, set: KeySet) =>
    new IDTokenHints({ keys: await ImportedKeys.from(set), issuer: () => ISSUER }).read(hint);

  it('is accepted as long as sessions live, even when its key is no longer published, but not after an immediate rotation', async () => {
    const first = firstSet(await newKey(), 0);
    const hint = await hintUnder(first);
    const login = {
      session: session.id,
      clientID: 'console',
      user: ALICE.name,
      userUID: ALICE.uid,
      authTime: Math.floor(session.createdAt / 1000),
    };
    expect(await read(hint, first)).to.deep.equal(login);
    expect(await read(hint, await rotated(first, 1, POLICY, newKey, 'immediate'))).to.equal(undefined);
    let set = first;
    for (const time of [900, 1000, 1500]) set = await rotated(set, time, POLICY, newKey);
    expect(await read(hint, set)).to.deep.equal(login);
    const [header, payload] = hint.split('.');
    const other = (await hintUnder(first)).split('.')[2];
    expect(await read(`${header}.${payload}.${other}`, set)).to.equal(undefined);
    const renamed = Buffer.from(JSON.stringify({ ...decodeProtectedHeader(hint), alg: 'RS256' }));
    expect(await read(`${renamed.toString('base64url')}.${payload}.${other}`, set)).to.equal(undefined);
    set = await rotated(set, 6000, { ...POLICY, rotationInterval: 10_000 }, newKey);
    expect(await read(hint, set)).to.equal(undefined);
  });
});
