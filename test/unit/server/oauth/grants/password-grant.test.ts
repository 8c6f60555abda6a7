// Tests of the password grant: the limit of groups in a token, and a missing signing key.
import { expect } from 'chai';
import { newServiceUnavailable } from '../../../../../apis/meta/v1/errors.ts';
import { newSession } from '../../../../support/oauth/new-session.ts';
import { newClient } from '../../../../support/oauth/oauth-clients.ts';
import { ALICE, type Replica, SignedInCluster } from '../../../../support/oauth/signed-in.ts';
import { rejection } from '../../../../support/rejection.ts';

describe('the password grant', () => {
  let cluster: SignedInCluster;
  let replica: Replica;
  beforeEach(async () => {
    cluster = await SignedInCluster.start();
    replica = await cluster.replica();
  });
  afterEach(() => cluster.close());

  it('stores no session when the groups do not fit into a token, and reports it to the user and in the log', async () => {
    // Twice the maximum number of groups, with names of maximum length; each character takes four bytes.
    const groups = Array.from({ length: 128 }, (_, i) => `${i}`.padStart(3, '0') + '\u{10348}'.repeat(125));
    const account = { ...ALICE, groups };
    cluster.state.accounts.set('alice', account);
    const error = await rejection(replica.signIn());
    expect(error).to.have.property('code', 'server_error');
    expect(error.message).to.match(/groups.*administrator/);
    expect(cluster.state.sessions.objects.size).to.equal(0);
    const subject = { client: newClient('console'), account, session: newSession(), scopes: [] };
    expect(() => replica.site.tokens.accessToken(subject))
      .to.throw()
      .with.nested.property('cause.message')
      .that.matches(/128 groups of user alice/);
  });

  it('stores no session while there is no signing key', async () => {
    replica.site.tokens.accessToken = () => {
      throw newServiceUnavailable('no key');
    };
    expect(await rejection(replica.signIn())).to.have.property('code', 'temporarily_unavailable');
    expect(cluster.state.sessions.objects.size).to.equal(0);
  });
});
