// Tests of the conversion of IPv4-mapped IPv6 addresses.
import { expect } from 'chai';
import { plainAddress } from '../../../../server/request/plain-address.ts';

describe('plainAddress', () => {
  it('returns an IPv4-mapped address as IPv4, and other addresses unchanged', () => {
    for (const address of ['192.0.2.7', '::1', '2001:db8::7', '::ffff:c000:207']) {
      expect(plainAddress(address)).to.equal(address);
    }
    for (const prefix of ['::ffff:', '::FFFF:'])
      expect(plainAddress(`${prefix}192.0.2.7`)).to.equal('192.0.2.7');
  });
});
