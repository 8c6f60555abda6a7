// Tests of the validation of client certificate chains.
import 'reflect-metadata';
import { X509Certificate } from 'node:crypto';
import * as x509 from '@peculiar/x509';
import { expect } from 'chai';
import { CertificateError, verifyChain } from '../../../../server/authentication/certificate-chain.ts';
import { type CertificateOptions, type Issued, issue, newCA } from '../../../support/certificates.ts';

const parse = ({ cert }: Issued): X509Certificate => new X509Certificate(cert);

function verdict(
  leaf: Issued,
  intermediates: readonly Issued[],
  anchors: readonly Issued[],
  now = Date.now(),
): string {
  try {
    const chain = verifyChain(parse(leaf), intermediates.map(parse), anchors.map(parse), now);
    return chain.certificates.map(({ subject }) => subject.replace('CN=', '')).join(' < ');
  } catch (error) {
    if (error instanceof CertificateError) return `refused: ${error.message}`;
    throw error;
  }
}

describe('verifyChain', () => {
  let root: Issued;

  before(async () => {
    root = await newCA('root');
  });

  async function through(options: CertificateOptions): Promise<{ leaf: Issued; middle: Issued }> {
    const middle = await issue(root, { cn: 'middle', ca: true, purposes: [], ...options });
    return { middle, leaf: await issue(middle, { cn: 'leaf' }) };
  }

  it('finds a chain through intermediates in any order, and none if one is missing', async () => {
    const { leaf, middle } = await through({});
    const lower = await issue(middle, { cn: 'lower', ca: true, purposes: [] });
    const deep = await issue(lower, { cn: 'deep' });
    expect(verdict(leaf, [middle], [root])).to.equal('leaf < middle < root');
    expect(verdict(deep, [middle, lower], [root])).to.equal('deep < lower < middle < root');
    expect(verdict(deep, [lower, middle], [root])).to.equal('deep < lower < middle < root');
    expect(verdict(leaf, [], [root])).to.equal('refused: not signed by a trusted CA');
    expect(verdict(leaf, [], [middle]), 'a published intermediate').to.equal('leaf < middle');
    expect(verdict(root, [], [root]), 'the CA itself').to.equal('root');
  });

  const constraints = new x509.Extension('2.5.29.30', true, new Uint8Array([0x30, 0]));
  const intermediates: readonly (readonly [string, CertificateOptions, RegExp])[] = [
    ['is not a CA', { ca: false }, /^refused: "CN=middle" is not a CA$/],
    ['has expired', { notAfter: new Date(Date.now() - 1000) }, /^refused: "CN=middle" expired at/],
    [
      'is for servers only',
      { purposes: [x509.ExtendedKeyUsage.serverAuth] },
      /not for client authentication/,
    ],
    [
      'has name constraints, which are not supported',
      { extensions: [constraints] },
      /critical extension \(2\.5\.29\.30\)/,
    ],
  ];
  for (const [what, options, expected] of intermediates) {
    it(`rejects an intermediate that ${what}`, async () => {
      const { leaf, middle } = await through(options);
      expect(verdict(leaf, [middle], [root])).to.match(expected);
    });
  }

  it('rejects a chain beyond the path length', async () => {
    const { leaf, middle } = await through({ ca: 0 });
    expect(verdict(leaf, [middle], [root])).to.equal('leaf < middle < root');
    const lower = await issue(middle, { cn: 'lower', ca: true, purposes: [] });
    const deep = await issue(lower, { cn: 'deep' });
    expect(verdict(deep, [lower, middle], [root])).to.equal(
      'refused: "CN=middle" must not have a CA below it',
    );
  });

  it('finds the signer among two CAs of the same name', async () => {
    const twin = await newCA('root');
    const leaf = await issue(twin, { cn: 'leaf' });
    expect(verdict(leaf, [], [root, twin])).to.equal('leaf < root');
    expect(verdict(leaf, [], [root])).to.match(/signature is not by/);
  });

  it('is valid until its first certificate expires', async () => {
    const soon = new Date(Math.floor(Date.now() / 1000) * 1000 + 60_000);
    const { leaf, middle } = await through({ notAfter: soon });
    const chain = verifyChain(parse(leaf), [parse(middle)], [parse(root)], Date.now());
    expect(chain.notAfter).to.equal(soon.getTime());
    expect(verdict(leaf, [middle], [root], soon.getTime() + 1)).to.match(/expired/);
  });

  it('is valid from the start of its newest certificate', async () => {
    const just = new Date(Math.floor(Date.now() / 1000) * 1000 - 60_000);
    const { leaf, middle } = await through({ notBefore: just });
    const chain = verifyChain(parse(leaf), [parse(middle)], [parse(root)], Date.now());
    expect(chain.notBefore).to.equal(just.getTime());
    expect(verdict(leaf, [middle], [root], just.getTime() - 1)).to.match(/"CN=middle" is not valid before/);
  });

  it('rejects an expired CA', async () => {
    const old = await newCA('old', { notAfter: new Date(Date.now() - 1000) });
    expect(verdict(await issue(old, { cn: 'leaf' }), [], [old])).to.match(/^refused: "CN=old" expired at/);
  });

  it('accepts key usage and alternative names, as in certificates of kubeadm', async () => {
    const usages = new x509.KeyUsagesExtension(
      x509.KeyUsageFlags.digitalSignature | x509.KeyUsageFlags.keyCertSign,
      true,
    );
    const names = new x509.SubjectAlternativeNameExtension([{ type: 'dns', value: 'leaf' }], true);
    const leaf = await issue(root, { cn: 'leaf', extensions: [usages, names] });
    expect(verdict(leaf, [], [root])).to.equal('leaf < root');
  });

  it('rejects a chain beyond the maximum depth', async () => {
    const chain = [root];
    for (let i = 1; i <= 6; i++)
      chain.push(await issue(chain.at(-1), { cn: `${i}`, ca: true, purposes: [] }));
    const leafOf = async (at: number): Promise<Issued> => issue(chain[at], { cn: 'leaf' });
    expect(verdict(await leafOf(5), chain.slice(1), [root])).to.equal('leaf < 5 < 4 < 3 < 2 < 1 < root');
    expect(verdict(await leafOf(6), chain.slice(1), [root])).to.match(/^refused/);
  });

  it('limits the signature checks for many cross-signed intermediates', async () => {
    const twins: Issued[] = [];
    for (let i = 0; i < 52; i++) twins.push(await newCA('maze'));
    const leaf = await issue(await newCA('maze'), { cn: 'leaf' });
    expect(verdict(leaf, twins, [root])).to.equal('refused: too many possible chains');
  });
});
