// Tests of the networks and sites of clients.
import { expect } from 'chai';
import { groupOf, networkCaller, networkOf } from '../../../../server/admission/network.ts';

describe('networkOf', () => {
  it('is the /64 network of an IPv6 address', () => {
    for (const [address, network] of [
      ['192.0.2.1', '192.0.2.1'],
      ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
      ['2001:0DB8::1', '2001:db8:0:0::/64'],
      ['::1', '0:0:0:0::/64'],
      ['2001:db8::', '2001:db8:0:0::/64'],
      ['2001::3:4:5:6:7:8', '2001:0:3:4::/64'],
      ['::2:3:4:5:6:7:8', '0:2:3:4::/64'],
      ['fe80::1%eth0', 'fe80:0:0:0::/64'],
      ['', ''],
    ] as const) {
      expect(networkOf(address), address).to.equal(network);
    }
  });
});

describe('groupOf', () => {
  it('is the /24 or the /48 of a network, and another caller itself', () => {
    for (const [address, group] of [
      ['192.0.2.1', 'network 192.0.2.0/24'],
      ['2001:db8:1:2:3:4:5:6', 'network 2001:db8:1::/48'],
      ['2001:db8:1:ffff::', 'network 2001:db8:1::/48'],
      ['2001:db8::1', 'network 2001:db8:0::/48'],
      ['', 'network '],
    ] as const) {
      expect(groupOf(networkCaller(address)), address).to.equal(group);
    }
    expect(groupOf('user 192.0.2.1')).to.equal('user 192.0.2.1');
  });
});
