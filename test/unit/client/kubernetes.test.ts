// Tests of the permissions that the client library checks at kube-apiserver.
import { expect } from 'chai';
import { Client } from '../../../client/index.ts';
import { json, scriptedServer } from '../../support/scripted-server.ts';

describe('the permissions of a caller', () => {
  const server = scriptedServer();

  it('are those of a SelfSubjectAccessReview', async () => {
    const { kubernetes } = new Client({ server: server.url, token: 'T' });
    const attributes = { verb: 'delete', resource: 'pods', namespace: 'shop' };
    const answers = [{ status: { allowed: true } }, { status: { allowed: false } }, {}];
    const allowed: boolean[] = [];
    for (const answer of answers) {
      server.respond(json(answer));
      allowed.push(await kubernetes.can(attributes));
    }
    expect(allowed).to.deep.equal([true, false, false]);
    expect(new Set(server.asked)).to.deep.equal(
      new Set(['POST /apis/authorization.k8s.io/v1/selfsubjectaccessreviews']),
    );
  });
});
