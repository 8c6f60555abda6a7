// Tests of the handler of /version.
import { expect } from 'chai';
import { ClusterVersion } from '../../../../server/cluster/cluster-version.ts';
import type { ClusterClient } from '../../../../server/cluster/connection/client.ts';
import { versionHandler } from '../../../../server/endpoints/server-version.ts';
import { HandlerServer } from '../../../support/handler-server.ts';

const source = { version: '1.2.3', gitCommit: 'abc', buildDate: '2026-11-21T00:00:00Z' };

describe('versionHandler', () => {
  let now = 0;
  let requests = 0;
  let version: object | undefined;
  let allowed: boolean | undefined = true;
  const client: ClusterClient = {
    open: () => Promise.reject(new Error('unexpected')),
    json: async ({ path }) => {
      requests++;
      if (!version || path !== '/version') throw new Error('unavailable');
      return version;
    },
  };
  const handler = versionHandler({
    source,
    kubernetes: new ClusterVersion(client, new AbortController().signal, () => now),
    authorizer: {
      authorize: (attributes) => {
        expect(attributes).to.include({ verb: 'get', path: '/version/' });
        if (allowed === undefined) throw new Error('unavailable');
        return { allowed, reason: '' };
      },
    },
  });

  async function shown(): Promise<Record<string, unknown>> {
    await using server = await new HandlerServer(handler).start();
    const { status, body, headers } = await server.ask('/version');
    expect(status).to.equal(200);
    expect(headers['content-type']).to.equal('application/json');
    return JSON.parse(body.toString()) as Record<string, unknown>;
  }

  it('returns the format that kubectl and client-go read', async () => {
    expect(await shown()).to.deep.include({
      major: '1',
      minor: '2',
      gitVersion: 'v1.2.3',
      gitCommit: 'abc',
      buildDate: '2026-11-21T00:00:00Z',
      nodeVersion: process.version,
    });
  });

  it('contains the version of kube-apiserver, for callers who may get it', async () => {
    now += 20_000;
    version = { major: '1', minor: '36', gitVersion: 'v1.36.3', other: {} };
    const [first] = [await shown(), await shown()];
    expect(first['kubernetes'])
      .to.include({ gitVersion: 'v1.36.3', platform: '' })
      .and.not.have.property('other');
    const before = requests;
    expect((await shown())['kubernetes']).to.deep.equal(first['kubernetes']);
    expect(requests).to.equal(before);
    for (const denied of [false, undefined]) {
      allowed = denied;
      expect(await shown())
        .to.include({ gitVersion: 'v1.2.3' })
        .and.not.have.property('kubernetes');
    }
    allowed = true;
    now += 20_000;
    version = undefined;
    expect(await shown()).not.to.have.property('kubernetes');
  });
});
