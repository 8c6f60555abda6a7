import { expect } from 'chai';
import { networkOf } from '../../../../../server/oauth/throttle/network.ts';

describe('networkOf', () => {
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
    it(`of ${address || 'nothing'} is ${network || 'nothing'}`, () => {
      expect(networkOf(address)).to.equal(network);
    });
  }
});
