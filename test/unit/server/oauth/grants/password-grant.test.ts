// Tests of the password grant: the limit of groups in a token, and a missing signing key.
import { expect } from 'chai';
import { newServiceUnavailable } from '../../../../../apis/meta/v1/errors.ts';
import { ALICE, SignedInCluster } from '../../../../support/oauth/signed-in.ts';
import { rejection } from '../../../../support/rejection.ts';

describe('the password grant', () => {
  let cluster: SignedInCluster;
  beforeEach(async () => {
    cluster = await SignedInCluster.start();
  });

  it('stores no session when the groups do not fit into a token, and reports it to the user and in the log', async () => {
    // Twice the maximum number of groups, with names of maximum length; each character takes four bytes.
    const groups = Array.from({ length: 128 }, (_, i) => `${i}`.padStart(3, '0') + '\u{10348}'.repeat(125));
    cluster.accounts.set('alice', { ...ALICE, groups });
    const error = await rejection(cluster.replica().signIn());
    expect(error).to.have.property('code', 'server_error');
    expect(error.message).to.match(/groups.*administrator/);
    expect(error.cause).to.match(/128 groups of user alice/);
    expect(cluster.shared.objects.size).to.equal(0);
  });

  it('stores no session while there is no signing key', async () => {
    const noKey = newServiceUnavailable('no key');
    cluster.issuer.accessToken = () => {
      throw noKey;
    };
    expect(await rejection(cluster.replica().signIn())).to.equal(noKey);
    expect(cluster.shared.objects.size).to.equal(0);
  });
});
