// Tests that the versions in docs/clients.md are those that the tests build, and that each row without a test has a date.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';

const ROOT = join(import.meta.dirname, '../../..');

const PYTHON = 'hack/clients/python/requirements.txt';
/** File and package with the version of each program that the repository runs. */
const SOURCES: Readonly<Record<string, readonly [file: string, name: string]>> = {
  kubectl: ['hack/control-plane/go.mod', 'k8s.io/kubernetes'],
  helm: ['hack/helm/go.mod', 'helm.sh/helm/v4'],
  stern: ['hack/stern/go.mod', 'github.com/stern/stern'],
  'client-go': ['hack/clients/go.mod', 'k8s.io/client-go'],
  'controller-runtime': ['hack/clients/go.mod', 'sigs.k8s.io/controller-runtime'],
  'kube-controller-manager': ['hack/control-plane/go.mod', 'k8s.io/kubernetes'],
  '@kubernetes/client-node (JavaScript)': ['package.json', '@kubernetes/client-node'],
  kubelogin: ['hack/kubelogin/go.mod', 'github.com/int128/kubelogin'],
  'kubernetes (Python)': [PYTHON, 'kubernetes'],
  'kubernetes_asyncio (Python)': [PYTHON, 'kubernetes_asyncio'],
  'lightkube (Python)': [PYTHON, 'lightkube'],
  'kopf (Python)': [PYTHON, 'kopf'],
  'oauth2-proxy': ['hack/identity/go.mod', 'github.com/oauth2-proxy/oauth2-proxy/v7'],
  'openid-client (JavaScript)': ['package.json', 'openid-client'],
  'Prometheus (3.10)': ['hack/monitoring/go.mod', 'github.com/prometheus/prometheus'],
  'fabric8 (Java)': ['hack/clients/java/pom.xml', 'kubernetes-client'],
  'kube-rs (Rust)': ['hack/clients/rust/Cargo.toml', 'kube'],
  Keycloak: ['hack/identity/keycloak/pom.xml', 'keycloak-quarkus-dist'],
  'oidc-provider (JavaScript)': ['package.json', 'oidc-provider'],
};
/** The module of Dex has no versions: the head of hack/identity/go.mod names the release. Debian selects the version of Apache. */
const UNVERSIONED = ['Dex, with an LDAP directory', 'Apache with mod_auth_openidc'];

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

/** The version of a package in package.json, go.mod, a pom.xml, a Cargo.toml or the requirements of pip. */
async function versionIn([file, name]: readonly [string, string]): Promise<string | undefined> {
  const text = await readFile(join(ROOT, file), 'utf8');
  const escaped = RegExp.escape(name);
  const pattern = file.endsWith('.xml')
    ? `<artifactId>${escaped}</artifactId>\\s*<version>([^<]+)<`
    : `(?:^|\\s|")${escaped}(?: v|": "|==| = \\{ version = "=)([\\d.]+)`;
  return new RegExp(pattern).exec(text)?.[1];
}

describe('the table of programs that were tried', () => {
  it('has the versions that the tests run', async () => {
    const all = await rows();
    for (const { program, version, test } of all) {
      const source = SOURCES[program];
      if (source) expect(version, `${program} in ${source[0]}`).to.equal(await versionIn(source));
      else if (test.startsWith('[')) expect(UNVERSIONED).to.include(program);
    }
    expect(all.map(({ program }) => program)).to.include.members([...Object.keys(SOURCES), ...UNVERSIONED]);
  });

  it('has the date of each trial by hand', async () => {
    for (const { program, test } of await rows()) {
      expect(test, program).to.match(/^(?:\[.+\]\(\.\.\/(?:test|hack)\/.+\)|by hand, \d{4}-\d\d-\d\d)/);
    }
  });
});
