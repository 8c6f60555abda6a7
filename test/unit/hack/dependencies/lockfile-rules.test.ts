// Tests of the rules for the packages of package-lock.json.
import { expect } from 'chai';
import {
  type InstalledManifest,
  type LockedPackage,
  lockfileProblems,
} from '../../../../hack/dependencies/lockfile-rules.ts';

const VALID: LockedPackage = { version: '1.0.0', license: 'MIT', integrity: 'sha512-x' };
const OTHER_PLATFORM: LockedPackage = { version: '1.0.0', optional: true, os: ['win32'], cpu: ['x64'] };

function problems(locked: LockedPackage, manifest?: InstalledManifest, name = 'left-pad'): string[] {
  const path = `node_modules/express/node_modules/${name}`;
  return lockfileProblems({ '': {}, [path]: locked }, (asked) => (asked === path ? manifest : undefined));
}

describe('the rules for the lockfile', () => {
  it('accept a package with an accepted licence and a hash', () => {
    expect(problems(VALID, { version: '1.0.0', license: 'MIT', scripts: { test: 'mocha' } })).to.deep.equal(
      [],
    );
  });

  const rejected: Record<string, [LockedPackage, string]> = {
    'another licence': [{ ...VALID, license: 'AGPL-3.0-only' }, 'has the licence AGPL-3.0-only, which'],
    'an expression that is not listed': [
      { ...VALID, license: 'MIT AND GPL-2.0-only' },
      'has the licence MIT AND',
    ],
    'a licence for the development only, in the image': [
      { ...VALID, license: 'MPL-2.0' },
      'has the licence MPL-2.0, which',
    ],
    'another licence of a package for the development': [
      { ...VALID, dev: true, license: 'AGPL-3.0-only' },
      'has the licence AGPL-3.0-only, which',
    ],
    'no licence': [{ version: '1.0.0', integrity: 'sha512-x' }, 'has the licence undefined'],
    'no hash': [{ version: '1.0.0', license: 'MIT' }, 'has no SHA-512 hash'],
    'a SHA-1 hash': [{ ...VALID, integrity: 'sha1-x' }, 'has no SHA-512 hash, but sha1-x'],
    'an install script': [{ ...VALID, hasInstallScript: true }, 'has an install script'],
    deprecation: [{ ...VALID, deprecated: 'use padStart' }, 'is deprecated: use padStart'],
    'another origin': [{ ...VALID, resolved: 'git+ssh://git@example.com/x.git' }, 'comes from git+ssh:'],
    'a link': [{ ...VALID, link: true, resolved: '../x' }, 'comes from ../x'],
    'a platform of the image and no hash': [
      { ...OTHER_PLATFORM, os: ['linux'], cpu: ['arm64'], libc: ['glibc'] },
      'has no hash, but can be installed on Linux',
    ],
  };
  for (const [title, [locked, problem]] of Object.entries(rejected)) {
    it(`reject ${title}`, () => {
      const [only = '', ...more] = problems(locked);
      expect(only.startsWith(`left-pad@1.0.0: ${problem}`)).to.equal(true, only);
      expect(more).to.deep.equal([]);
    });
  }

  it('accept more licences of packages for the development', () => {
    expect(problems({ ...VALID, dev: true, license: 'MPL-2.0' })).to.deep.equal([]);
  });

  it('accept other platforms without a hash and a licence', () => {
    expect(problems(OTHER_PLATFORM)).to.deep.equal([]);
    const musl = { ...OTHER_PLATFORM, os: ['linux'], libc: ['musl'] };
    expect(problems(musl)).to.deep.equal([]);
  });

  it('accept the listed exceptions', () => {
    expect(problems({ ...VALID, hasInstallScript: true }, undefined, '@scarf/scarf')).to.deep.equal([]);
    const arm = { ...OTHER_PLATFORM, os: ['linux'], cpu: ['arm64'], libc: ['glibc'] };
    expect(problems(arm, undefined, '@node-rs/bcrypt-linux-arm64-gnu')).to.deep.equal([]);
  });

  it('reject an installed package that differs from the lockfile', () => {
    const manifest = { version: '1.0.1', license: 'GPL-3.0-only', scripts: { postinstall: 'node x.js' } };
    expect(problems(VALID, manifest)).to.deep.equal([
      'left-pad@1.0.0: 1.0.1 is installed; run npm ci',
      'left-pad@1.0.0: its package.json has the licence "GPL-3.0-only"',
      'left-pad@1.0.0: its package.json has the script postinstall',
    ]);
  });
});
