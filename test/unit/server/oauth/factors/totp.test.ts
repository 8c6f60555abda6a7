// Tests of TOTP codes with the vectors of RFC 6238, and of the encryption of their secrets.
import { expect } from 'chai';
import { Secret } from 'otpauth';
import { newTOTPSecret, stepOf, TOTPSecrets, totpURI } from '../../../../../server/oauth/factors/totp.ts';
import { memoryKeyRing } from '../../../../support/oauth/memory-key-ring.ts';

const RFC_SECRET = Secret.fromUTF8('12345678901234567890').base32;

describe('TOTP', () => {
  it('accepts the codes of RFC 6238, appendix B, with six digits', () => {
    for (const [seconds, code] of [
      [59, '287082'],
      [1_111_111_109, '081804'],
      [1_234_567_890, '005924'],
      [20_000_000_000, '353130'],
    ] as const) {
      expect(stepOf(code, RFC_SECRET, seconds * 1000)).to.equal(Math.floor(seconds / 30));
    }
  });

  it('rejects everything that has not six ASCII digits', () => {
    for (const code of ['', '28708', '2870820', '+87082', '２８７０８２', '287 82', '287082\n']) {
      expect(stepOf(code, RFC_SECRET, 59_000), code).to.equal(undefined);
    }
  });

  it('has secrets of 160 random bits, in a URI with the issuer and the user', () => {
    const secret = newTOTPSecret();
    expect(secret)
      .to.match(/^[A-Z2-7]{32}$/)
      .and.not.equal(newTOTPSecret());
    const uri = new URL(totpURI(secret, 'Acme & Cloud', 'alice'));
    expect(decodeURIComponent(uri.pathname)).to.include('Acme & Cloud:alice');
    expect(uri.searchParams.get('secret')).to.equal(secret);
    expect(uri.searchParams.get('issuer')).to.equal('Acme & Cloud');
  });
});

describe('TOTPSecrets', () => {
  const ALICE = { name: 'alice', uid: 'uid-of-alice' };
  const BOB = { name: 'bob', uid: 'uid-of-bob' };

  it('opens a secret for its user only, and with the keys that it was sealed with', async () => {
    const secrets = new TOTPSecrets(await memoryKeyRing());
    const sealed = await secrets.seal(ALICE, RFC_SECRET);
    expect(sealed).to.not.include(RFC_SECRET);
    expect(await secrets.open(ALICE, sealed)).to.equal(RFC_SECRET);
    expect(await secrets.open(BOB, sealed)).to.equal(undefined);
    expect(await new TOTPSecrets(await memoryKeyRing()).open(ALICE, sealed)).to.equal(undefined);
  });

  it('encrypts a secret again only after a rotation, and while the previous key is kept', async () => {
    const [before, after] = [await memoryKeyRing(), await memoryKeyRing()];
    const sealed = await new TOTPSecrets(before).seal(ALICE, RFC_SECRET);
    expect(await new TOTPSecrets(before).renewed(ALICE, sealed)).to.equal(undefined);
    const [newest, previous] = [after, before].map((keys) => keys.macs.bind(keys));
    if (!newest || !previous) throw new Error('two key rings');
    const rotated = new TOTPSecrets({
      macs: (purpose, message) => [...newest(purpose, message), ...previous(purpose, message)],
    });
    const renewed = (await rotated.renewed(ALICE, sealed)) ?? '';
    expect(await new TOTPSecrets(after).open(ALICE, renewed)).to.equal(RFC_SECRET);
    expect(await new TOTPSecrets(await memoryKeyRing()).renewed(ALICE, sealed)).to.equal(undefined);
  });
});
