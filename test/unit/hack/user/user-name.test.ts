import { expect } from 'chai';
import { userNameFault } from '../../../../hack/user/user-name.ts';

describe('the name of a new user', () => {
  it('is accepted if kube-apiserver accepts it', () => {
    for (const name of ['ada', 'a', '7', 'ada.lovelace', 'x-1.y-2', 'a'.repeat(63)]) {
      expect(userNameFault(name), name).to.equal(undefined);
    }
  });

  for (const [name, near] of [
    ['Bob:x', 'bob-x'],
    ['Zoë Müller', 'zoe-muller'],
    ['ada@example.com', 'ada-example.com'],
    ['-ada-', 'ada'],
    ['a'.repeat(64), 'a'.repeat(63)],
    ['system:admin', 'system-admin'],
  ] as const) {
    it(`is rejected before any request, with a suggestion: ${name}`, () => {
      const fault = userNameFault(name);
      expect(fault).to.include(JSON.stringify(name)).and.include('lower-case letters, digits');
      expect(fault?.endsWith(`; what about ${near}?`), fault).to.equal(true);
    });
  }

  it('is rejected without a suggestion if no valid name is near', () => {
    expect(userNameFault('')).to.match(/at most 63$/);
    expect(userNameFault('日本')).to.match(/at most 63$/);
    expect(userNameFault('a..b')).to.match(/at most 63$/);
  });
});
