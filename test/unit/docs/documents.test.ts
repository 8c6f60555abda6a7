// Tests of the Markdown documents: links, file names, configurations, metrics and other references.
import { access, readdir, readFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { expect } from 'chai';
import { decodeConfiguration } from '../../../apis/config/v1alpha1/decode.ts';
import { clusterRules, namespaceRules, podLogsRules, userRoles } from '../../../hack/generate/access.ts';
import { metricsTable } from '../../../hack/generate/metrics-table.ts';
import { namesFor, readPlatform } from '../../../hack/generate/names.ts';
import packageManifest from '../../../package.json' with { type: 'json' };
import { SERVER } from '../../../server/config/options.ts';
import { collectProcessMetrics, createRegistry } from '../../../server/observability/metrics.ts';

const ROOT = join(import.meta.dirname, '../../..');

interface Document {
  readonly path: string;
  readonly text: string;
}

async function documents(): Promise<Document[]> {
  const files = (await readdir(join(ROOT, 'docs'))).filter((name) => name.endsWith('.md'));
  const docs = files.map((name) => `docs/${name}`);
  return Promise.all(
    ['README.md', 'CONTRIBUTING.md', 'CHANGELOG.md', 'server/README.md', ...docs].map(async (path) => ({
      path,
      text: await readFile(join(ROOT, path), 'utf8'),
    })),
  );
}

function matches(text: string, pattern: RegExp): string[] {
  return [...text.matchAll(pattern)].map(([, found = '']) => found);
}

/** A query parameter and an OAuth error whose names have the prefix of a metric. */
const OTHERS = new Set(['log_query', 'authorization_pending']);

/** The anchor that Markdown renderers derive from a heading. */
function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[^\w\- ]/g, '')
    .replaceAll(' ', '-');
}

describe('the documents', () => {
  let all: Document[];
  let readme: string;
  let configuration: string;
  before(async () => {
    all = await documents();
    const textOf = (wanted: string): string => all.find(({ path }) => path === wanted)?.text ?? '';
    readme = textOf('README.md');
    configuration = all
      .filter(({ path }) => path.startsWith('docs/configuration'))
      .map(({ text }) => text)
      .join('\n');
  });

  it('are all linked from the README', () => {
    const unlinked = all.map(({ path }) => path).filter((path) => !readme.includes(`](${path})`));
    expect(unlinked).to.deep.equal(['README.md']);
  });

  it('keep the README under ten minutes of reading', () => {
    const prose = readme.replaceAll(/^```.*?^```$/gms, '');
    expect(prose.split(/\s+/)).to.have.length.below(1600);
  });

  it('link only to what exists', async () => {
    const broken: string[] = [];
    for (const { path, text } of all) {
      for (const link of matches(text, /\]\(([^)#]+)(?:#[^)]*)?\)/g)) {
        if (/^https?:/.test(link)) continue;
        const target = join(ROOT, dirname(path), link);
        await access(target).catch(() => broken.push(`${path} → ${relative(ROOT, target)}`));
      }
    }
    expect(broken).to.deep.equal([]);
  });

  it('link only to headings that exist', async () => {
    const broken: string[] = [];
    for (const { path, text } of all) {
      for (const [, file = '', anchor = ''] of text.matchAll(/\]\(([^)#]*)#([^)]+)\)/g)) {
        if (/^https?:/.test(file)) continue;
        const target = file === '' ? text : await readFile(join(ROOT, dirname(path), file), 'utf8');
        const headings = matches(target, /^#+ (.+)$/gm).map(anchorOf);
        if (!headings.includes(anchor)) broken.push(`${path} → ${file}#${anchor}`);
      }
    }
    expect(broken).to.deep.equal([]);
  });

  it('name only files of the repository that exist', async () => {
    const missing: string[] = [];
    for (const { path, text } of all) {
      for (const file of matches(text, /(?:^|[\s`])((?:manifests|hack|server|docs|apis)\/[\w./-]*\w)/gm)) {
        await access(join(ROOT, file)).catch(() => missing.push(`${path}: ${file}`));
      }
    }
    expect(missing).to.deep.equal([]);
  });

  it('name only npm scripts that exist', () => {
    const scripts: Readonly<Record<string, string>> = packageManifest.scripts;
    const named = all.flatMap(({ text }) => [
      ...matches(text, /npm run ([\w-]+)/g),
      ...(text.includes('npm start') ? ['start'] : []),
      ...(text.includes('npm test') ? ['test'] : []),
    ]);
    expect(named.filter((name) => !Object.hasOwn(scripts, name))).to.deep.equal([]);
  });

  it('document every npm script', () => {
    const typed = Object.keys(packageManifest.scripts).filter((name) => !/^(pre|post)/.test(name));
    expect(
      typed.filter((name) => !readme.includes(`npm run ${name}`) && !readme.includes(`npm ${name}`)),
    ).to.deep.equal([]);
  });

  it('name every flag of the server, and no other flag', () => {
    const line = configuration.split('\n').find((each) => each.startsWith('Flags:')) ?? '';
    const flags = Object.keys(SERVER.flags).filter((name) => name !== 'version');
    expect(matches(line, /`--([\w-]+)`/g)).to.have.members(flags);
  });

  it('show a configuration that the server accepts', () => {
    const [example = ''] = matches(configuration, /```yaml\n(apiVersion: config[\s\S]*?)```/g);
    expect(decodeConfiguration({ source: 'docs/configuration.md', text: example }).log.level).to.equal(
      'debug',
    );
  });

  it('show parts of configurations that the server accepts', () => {
    const sections = Object.keys(decodeConfiguration(undefined));
    let shown = 0;
    for (const { path, text } of all) {
      for (const part of matches(text, /^```yaml\n(.*?)^```$/gms)) {
        const keys = matches(part, /^(\w+):/gm);
        // A kustomization has members of the same name.
        if (part.includes('apiVersion') || keys.some((key) => !sections.includes(key))) continue;
        shown++;
        const whole = `apiVersion: config.platform.io/v1alpha1\nkind: APIServerConfiguration\n${part}`;
        expect(() => decodeConfiguration({ source: path, text: whole }), `${path}\n${part}`).not.to.throw();
      }
    }
    expect(shown).to.be.above(2);
  });

  it('name metrics that exist', async () => {
    const registry = createRegistry();
    collectProcessMetrics(registry, '0');
    const known = [
      ...matches(await metricsTable(), /^\| `(\w+)`/gm),
      ...(await registry.getMetricsAsJSON()).map(({ name }) => name),
    ];
    const prefix =
      /^(?:apiserver|authentication|authorization|cache|gateway|log|nodejs|oauth|process|reflector|tracing)_\w*[a-z]$/;
    const named = all.flatMap(({ text }) => matches(text, /`[^`\n]*?(\w+)(?:\{|`| [<>=-])/g));
    const metrics = named.filter((name) => prefix.test(name) && !OTHERS.has(name));
    expect(metrics).to.have.length.above(known.length / 2);
    expect(metrics.filter((name) => !known.includes(name))).to.deep.equal([]);
  });

  it('document every path of the OpenAPI document', async () => {
    const description: unknown = JSON.parse(await readFile(join(ROOT, 'docs/openapi/platform.json'), 'utf8'));
    const platform = await readPlatform(join(ROOT, 'manifests/names.json'));
    const paths = Object.keys((description as { paths: Record<string, unknown> }).paths).map((path) =>
      path.replace(`.${platform}.io/`, '.platform.io/'),
    );
    const texts = all.map(({ text }) => text.replaceAll('<platform>', 'platform')).join('\n');
    // A list documents its objects too, and pages may omit the prefix of a group.
    const documented = (path: string): boolean => {
      const [list = path] = path.split('/{');
      return texts.includes(list) || texts.includes(list.replace(/^\/kapis\/.*v1alpha2/, '`'));
    };
    expect(paths).to.have.length.above(20);
    expect(paths.filter((path) => !documented(path))).to.deep.equal([]);
  });

  it('show every filter that a request goes through', async () => {
    const folder = join(ROOT, 'server/filters');
    const picture = all.find(({ path }) => path === 'server/README.md')?.text ?? '';
    const missing: string[] = [];
    for (const file of await readdir(folder)) {
      const text = await readFile(join(folder, file), 'utf8');
      const name = file.replace('.ts', '');
      if (/\): Filter \{|: Filter = /.test(text) && !new RegExp(` ${name} `).test(picture))
        missing.push(name);
    }
    expect(missing).to.deep.equal([]);
  });

  it('name the roles that the manifests install', () => {
    const roles = userRoles(namesFor('platform')).map(({ metadata }) => metadata.name);
    const text = all.map((each) => each.text).join('\n');
    expect(matches(text, /`(platform-[a-z]+-reader)`/g)).to.include.members(roles);
    for (const role of matches(text, /(platform-[a-z]+-reader)/g)) expect(roles).to.include(role);
  });

  it('document each role of users and each permission of the server', () => {
    const names = namesFor('platform');
    const access = all.find(({ path }) => path === 'docs/access.md')?.text ?? '';
    const rows = access.split('\n').filter((line) => line.startsWith('|'));
    for (const { metadata } of userRoles(names)) {
      expect(rows.some((row) => row.startsWith(`| \`${metadata.name}\` |`))).to.equal(true, metadata.name);
    }
    for (const rule of [...clusterRules(names), ...namespaceRules(), ...podLogsRules()]) {
      for (const resource of rule.resources ?? []) {
        const documented = rows.some((row) =>
          row
            .toLowerCase()
            .split(/[\s`:,]+/)
            .includes(resource),
        );
        expect(documented).to.equal(true, resource);
      }
    }
  });

  it('name options of the configuration that exist', () => {
    const named = all.flatMap(({ text }) =>
      matches(
        text,
        /`((?:listeners|requests|cache|watch|registration|shutdown|authentication|authorization|oauth|cors|resources|logging|log)\.(?!kubernetes|platform|io\b|NAME)[\w.]+)/g,
      ),
    );
    expect(named).not.to.have.length(0);
    // A list of sections has rows only for its members.
    const known = (option: string): boolean =>
      ['` |', ': ', '[].'].some((end) => configuration.includes(`| \`${option}${end}`));
    expect(named.filter((option) => !known(option))).to.deep.equal([]);
  });

  it('document each overlay and each component of the manifests', async () => {
    const installation = all.find(({ path }) => path === 'docs/installation.md')?.text ?? '';
    const rows = installation.split('\n').filter((line) => line.startsWith('|'));
    for (const folder of ['overlays', 'components']) {
      for (const name of await readdir(join(ROOT, 'manifests', folder))) {
        const path = `manifests/${folder}/${name}`;
        expect(rows.some((row) => row.split('|')[1]?.includes(path))).to.equal(true, path);
      }
    }
  });

  it('name the tag of the image that the manifests run', async () => {
    const containerfile = await readFile(join(ROOT, 'hack/image/Containerfile'), 'utf8');
    const tag = `ks-apiserver:${packageManifest.version}`;
    expect(all.find(({ path }) => path === 'CONTRIBUTING.md')?.text).to.include(tag);
    expect(containerfile).to.include(tag);
  });

  it('copy only files into the image that exist', async () => {
    const containerfile = await readFile(join(ROOT, 'hack/image/Containerfile'), 'utf8');
    for (const sources of matches(containerfile, /^COPY (?!--from)(.*) \S+$/gm)) {
      for (const source of sources.split(' ')) await access(join(ROOT, source));
    }
  });
});
