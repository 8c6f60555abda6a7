// Tests of the wait of `npm start` until kube-apiserver accepts the tokens of the server.
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:https';
import { join } from 'node:path';
import { expect } from 'chai';
import { areTokensAccepted } from '../../../../hack/start/development-server.ts';
import { NEVER_ABORTED } from '../../../../server/concurrency/aborted.ts';
import { issueServer, newCA } from '../../../support/certificates.ts';
import { closeNow, listenOnLoopback } from '../../../support/loopback.ts';
import { scratchFolderEach } from '../../../support/scratch.ts';

describe('npm start waits until kube-apiserver accepts the tokens of the server', () => {
  const folder = scratchFolderEach();
  const issuer = 'https://127.0.0.1:9443/oauth';

  async function isAcceptedWith(state: string): Promise<boolean> {
    const authority = await newCA('serving-ca');
    const { cert, key } = await issueServer(authority);
    const caFile = join(folder(), 'ca.crt');
    await writeFile(caFile, authority.cert);
    const server = createServer({ cert, key }, (_request, response) =>
      response.end(`[+]ping ok\n[+]gateway ok: ${state}\n[+]oauth ok\nreadyz check passed\n`),
    );
    try {
      const secure = await listenOnLoopback(server);
      return await areTokensAccepted({ issuer, caFile, ports: { secure } }, NEVER_ABORTED);
    } finally {
      await closeNow(server);
    }
  }

  it('with the check of the gateway', async () => {
    expect(await isAcceptedWith(`kube-apiserver accepts the tokens of ${issuer}`)).to.equal(true);
    const both = `kube-apiserver accepts the tokens of ${issuer}; kube-apiserver rejects the ID tokens of client "a": cure`;
    expect(await isAcceptedWith(both)).to.equal(true);
  });

  it('not before the first check, nor with a rejection or another user name', async () => {
    for (const state of [
      `it is unknown whether kube-apiserver accepts the tokens of ${issuer}: not checked yet`,
      `kube-apiserver rejects the tokens of ${issuer}: cure`,
      `kube-apiserver accepts the tokens of ${issuer}, but names user "a" "b": cure`,
    ])
      expect(await isAcceptedWith(state), state).to.equal(false);
  });
});
