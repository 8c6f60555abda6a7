// Tests of where a sign-in leads afterwards.
import { expect } from 'chai';
import { addressWithinOrigin } from '../../../client/sign-in.ts';

describe('the address after a sign-in', () => {
  it('is the current one, and never one of another server', () => {
    for (const [path, expected] of [
      ['/logs?namespace=shop#12', '/logs?namespace=shop#12'],
      ['/', '/'],
      ['//evil.example/logs', '/evil.example/logs'],
      ['/\\evil.example', '/evil.example'],
      ['///evil.example?a=//b', '/evil.example?a=//b'],
    ] as const) {
      // As a browser reads the address of a link.
      const address = addressWithinOrigin(new URL(`https://console.example${path}`));
      expect(address).to.equal(expected);
      expect(new URL(address, 'https://console.example').host).to.equal('console.example');
    }
  });
});
