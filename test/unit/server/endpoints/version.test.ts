// Tests of the handler of /version.
import { expect } from 'chai';
import { versionHandler } from '../../../../server/endpoints/version.ts';
import { HandlerServer } from '../../../support/handler-server.ts';

describe('versionHandler', () => {
  it('returns the format that kubectl and client-go read', async () => {
    const source = { version: '1.2.3', gitCommit: 'abc', buildDate: '2026-11-21T00:00:00Z' };
    await using server = await new HandlerServer(versionHandler(source)).start();
    const { status, body, headers } = await server.ask('/version');
    expect(status).to.equal(200);
    expect(headers['content-type']).to.equal('application/json');
    expect(JSON.parse(body.toString())).to.include({
      major: '1',
      minor: '2',
      gitVersion: 'v1.2.3',
      gitCommit: 'abc',
      buildDate: '2026-11-21T00:00:00Z',
      nodeVersion: process.version,
    });
  });
});
