// Tests that the versions in docs/clients.md are those that the tests build, and that each row without a test has a date.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';

const ROOT = join(import.meta.dirname, '../../..');

/** File and package with the version of each program that a test runs. */
const SOURCES: Readonly<Record<string, readonly [file: string, name: string]>> = {
  kubectl: ['hack/control-plane/go.mod', 'k8s.io/kubernetes'],
  'client-go': ['hack/clients/go.mod', 'k8s.io/client-go'],
  'controller-runtime': ['hack/clients/go.mod', 'sigs.k8s.io/controller-runtime'],
  'kube-controller-manager': ['hack/control-plane/go.mod', 'k8s.io/kubernetes'],
  '@kubernetes/client-node (JavaScript)': ['package.json', '@kubernetes/client-node'],
  'kubernetes (Python)': ['hack/clients/python/requirements.txt', 'kubernetes'],
  kubelogin: ['hack/kubelogin/go.mod', 'github.com/int128/kubelogin'],
  'oauth2-proxy': ['hack/identity/go.mod', 'github.com/oauth2-proxy/oauth2-proxy/v7'],
  'openid-client (JavaScript)': ['package.json', 'openid-client'],
  'Prometheus (3.10)': ['hack/monitoring/go.mod', 'github.com/prometheus/prometheus'],
  'oidc-provider (JavaScript)': ['package.json', 'oidc-provider'],
};
/** Its module has no versions; the head of hack/identity/go.mod names the release. */
const UNVERSIONED = ['Dex, with an LDAP directory'];

interface Row {
  readonly program: string;
  readonly version: string;
  readonly test: string;
}

async function rows(): Promise<Row[]> {
  const page = await readFile(join(ROOT, 'docs/clients.md'), 'utf8');
  return page
    .split('\n')
    .filter((line) => /^\| (?!program )/.test(line))
    .map((line) => {
      const cells = line.split('|').map((cell) => cell.trim());
      const [, program = '', version = '', , , test = ''] = cells;
      expect(cells, line).to.have.length(7);
      return { program, version, test };
    });
}

/** The version of a package in package.json, go.mod, a pom.xml or the requirements of pip. */
async function versionIn([file, name]: readonly [string, string]): Promise<string | undefined> {
  const text = await readFile(join(ROOT, file), 'utf8');
  const escaped = RegExp.escape(name);
  const pattern = file.endsWith('.xml')
    ? `<artifactId>${escaped}</artifactId>\\s*<version>([^<]+)<`
    : `(?:^|\\s|")${escaped}(?: v|": "|==)([\\d.]+)`;
  return new RegExp(pattern).exec(text)?.[1];
}

describe('the table of programs that were tried', () => {
  it('has the versions that the tests run', async () => {
    const tested = (await rows()).filter(({ test }) => test.startsWith('['));
    const names = tested.map(({ program }) => program);
    expect(names).to.have.members([...Object.keys(SOURCES), ...UNVERSIONED]);
    for (const { program, version } of tested) {
      const source = SOURCES[program];
      if (source) expect(version, `${program} in ${source[0]}`).to.equal(await versionIn(source));
    }
  });

  it('has the date of each trial by hand', async () => {
    for (const { program, test } of await rows()) {
      expect(test, program).to.match(/^(?:\[.+\]\(\.\.\/(?:test|hack)\/.+\)|by hand, \d{4}-\d\d-\d\d)/);
    }
  });
});
