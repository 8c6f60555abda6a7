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

describe('a chain of certificates', () => {
  let root: Issued;

  before(async () => {
    root = await newCA('root');
  });

  async function through(options: CertificateOptions): Promise<{ leaf: Issued; middle: Issued }> {
    const middle = await issue(root, { cn: 'middle', ca: true, purposes: [], ...options });
    return { middle, leaf: await issue(middle, { cn: 'leaf' }) };
  }

  it('leads from the leaf to the CA, through intermediates in any order', async () => {
    const { leaf, middle } = await through({});
    const lower = await issue(middle, { cn: 'lower', ca: true, purposes: [] });
    const deep = await issue(lower, { cn: 'deep' });
    expect(verdict(leaf, [middle], [root])).to.equal('leaf < middle < root');
    expect(verdict(deep, [middle, lower], [root])).to.equal('deep < lower < middle < root');
    expect(verdict(deep, [lower, middle], [root])).to.equal('deep < lower < middle < root');
  });

  it('is refused when a link is missing', async () => {
    const { leaf } = await through({});
    expect(verdict(leaf, [], [root])).to.equal('refused: not signed by a CA of this kind');
  });

  it('may end at an intermediate that is published as a CA itself', async () => {
    const { leaf, middle } = await through({});
    expect(verdict(leaf, [], [middle])).to.equal('leaf < middle');
  });

  it('is refused through a certificate that is no CA', async () => {
    const { leaf, middle } = await through({ ca: false });
    expect(verdict(leaf, [middle], [root])).to.equal('refused: "CN=middle" is no CA');
  });

  it('is refused through an intermediate that has expired', async () => {
    const { leaf, middle } = await through({ notAfter: new Date(Date.now() - 1000) });
    expect(verdict(leaf, [middle], [root])).to.match(/^refused: "CN=middle" has expired/);
  });

  it('is refused through an intermediate for servers only', async () => {
    const { leaf, middle } = await through({ purposes: [x509.ExtendedKeyUsage.serverAuth] });
    expect(verdict(leaf, [middle], [root])).to.match(/not meant for client authentication/);
  });

  it('is refused below a CA that may have none below it', async () => {
    const { leaf, middle } = await through({ ca: 0 });
    expect(verdict(leaf, [middle], [root])).to.equal('leaf < middle < root');
    const lower = await issue(middle, { cn: 'lower', ca: true, purposes: [] });
    const deep = await issue(lower, { cn: 'deep' });
    expect(verdict(deep, [lower, middle], [root])).to.equal(
      'refused: "CN=middle" may not have a CA below it',
    );
  });

  it('is refused through names that are constrained, since constraints are not checked', async () => {
    const constraints = new x509.Extension('2.5.29.30', true, new Uint8Array([0x30, 0]));
    const { leaf, middle } = await through({ extensions: [constraints] });
    expect(verdict(leaf, [middle], [root])).to.match(/not understood \(2\.5\.29\.30\)/);
  });

  it('is refused when the issuer bears the CA’s name but not its key', async () => {
    const impostor = await newCA('root');
    expect(verdict(await issue(impostor, { cn: 'leaf' }), [], [root])).to.match(/signature is not that of/);
  });

  it('finds the one of two CAs of the same name that signed', async () => {
    const twin = await newCA('root');
    expect(verdict(await issue(twin, { cn: 'leaf' }), [], [root, twin])).to.equal('leaf < root');
  });

  it('is as long valid as its shortest-lived certificate', async () => {
    const soon = new Date(Math.floor(Date.now() / 1000) * 1000 + 60_000);
    const { leaf, middle } = await through({ notAfter: soon });
    const chain = verifyChain(parse(leaf), [parse(middle)], [parse(root)], Date.now());
    expect(chain.notAfter).to.equal(soon.getTime());
    expect(verdict(leaf, [middle], [root], soon.getTime() + 1)).to.match(/expired/);
  });

  it('is valid no sooner than its youngest certificate', async () => {
    const just = new Date(Math.floor(Date.now() / 1000) * 1000 - 60_000);
    const { leaf, middle } = await through({ notBefore: just });
    const chain = verifyChain(parse(leaf), [parse(middle)], [parse(root)], Date.now());
    expect(chain.notBefore).to.equal(just.getTime());
    expect(verdict(leaf, [middle], [root], just.getTime() - 1)).to.match(/"CN=middle" is not valid before/);
  });

  it('is refused when the CA itself has expired', async () => {
    const old = await newCA('old', { notAfter: new Date(Date.now() - 1000) });
    expect(verdict(await issue(old, { cn: 'leaf' }), [], [old])).to.match(/^refused: "CN=old" has expired/);
  });

  it('may say what its keys are for and what else it is called, as those of kubeadm do', async () => {
    const usages = new x509.KeyUsagesExtension(
      x509.KeyUsageFlags.digitalSignature | x509.KeyUsageFlags.keyCertSign,
      true,
    );
    const names = new x509.SubjectAlternativeNameExtension([{ type: 'dns', value: 'leaf' }], true);
    const leaf = await issue(root, { cn: 'leaf', extensions: [usages, names] });
    expect(verdict(leaf, [], [root])).to.equal('leaf < root');
  });

  it('is the CA alone when a client signs in with that', async () => {
    const { middle } = await through({});
    expect(verdict(root, [], [root])).to.equal('root');
    expect(verdict(middle, [], [middle])).to.equal('middle');
  });

  it('is refused when it is longer than any in use', async () => {
    const chain = [root];
    for (let i = 1; i <= 6; i++)
      chain.push(await issue(chain.at(-1), { cn: `${i}`, ca: true, purposes: [] }));
    const leafOf = async (at: number): Promise<Issued> => issue(chain[at], { cn: 'leaf' });
    expect(verdict(await leafOf(5), chain.slice(1), [root])).to.equal('leaf < 5 < 4 < 3 < 2 < 1 < root');
    expect(verdict(await leafOf(6), chain.slice(1), [root])).to.match(/^refused/);
  });

  it('ends the search when a client sends a maze of intermediates', async () => {
    const twins: Issued[] = [];
    for (let i = 0; i < 60; i++) twins.push(await newCA('maze'));
    const leaf = await issue(await newCA('maze'), { cn: 'leaf' });
    expect(verdict(leaf, twins, [root])).to.equal('refused: too many possible chains');
  });
});
