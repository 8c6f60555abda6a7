// Tests of the oidc-provider server that the bench compares with ks-apiserver.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { hash } from '@node-rs/argon2';
import { expect } from 'chai';
import { decodeJwt, decodeProtectedHeader } from 'jose';
import { TokenClient } from '../../../../hack/bench/measuring/token-client.ts';
import { type Peer, startOIDCProvider } from '../../../../hack/peers/peer.ts';
import { issueServer, newCA } from '../../../support/certificates.ts';

const PASSWORD = 'correct horse battery staple';

describe('oidc-provider, as the bench runs it', function () {
  this.timeout(180_000);
  const end = new AbortController();
  let dir: string;
  let peer: Peer;
  let client: TokenClient;

  before(async () => {
    dir = await mkdtemp(join(tmpdir(), 'peers-'));
    const authority = await newCA('peers');
    const { cert, key } = await issueServer(authority);
    const write = async (name: string, text: string): Promise<string> => {
      await writeFile(join(dir, name), text);
      return join(dir, name);
    };
    peer = await startOIDCProvider({
      certificate: { cert: await write('tls.crt', cert), key: await write('tls.key', key) },
      client: { id: 'platform', secret: 'platform' },
      users: ['alice'],
      passwordHash: await hash(PASSWORD, { memoryCost: 1024, timeCost: 1 }),
      signal: end.signal,
    });
    const endpoint = { path: peer.tokenPath, scope: 'openid offline_access' };
    client = await TokenClient.connect(peer.url, await write('ca.crt', authority.cert), 2, endpoint);
  });
  after(async () => {
    client?.close();
    await peer?.stop();
    end.abort();
    await rm(dir, { recursive: true, force: true });
  });

  const failure = (work: Promise<unknown>): Promise<unknown> => work.then(() => undefined, String);

  it('issues access tokens like ours', async () => {
    const { access_token: token } = await client.signIn('alice', PASSWORD);
    expect(decodeProtectedHeader(token)).to.include({ alg: 'ES256', typ: 'at+jwt' });
    expect(decodeJwt(token)).to.include({ sub: 'alice', client_id: 'platform' });
  });

  it('checks the password', async () => {
    expect(await failure(client.signIn('alice', 'wrong'))).to.contain('invalid_grant');
    expect(await failure(client.signIn('nobody', PASSWORD))).to.contain('invalid_grant');
  });

  it('accepts each refresh token once', async () => {
    const { refresh_token: first } = await client.signIn('alice', PASSWORD);
    const { refresh_token: second } = await client.refresh(first);
    expect(second).to.not.equal(first);
    expect(await failure(client.refresh(first))).to.contain('invalid_grant');
  });
});
