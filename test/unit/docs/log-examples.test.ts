// What docs/logs.md shows to be typed is taken by the server, and what it shows as an answer is one.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect } from 'chai';
import {
  LogHistogramAnswerSchema,
  LogQueryAnswerSchema,
  LogStatisticsAnswerSchema,
} from '../../../apis/logging/v1alpha2/log-answer.ts';
import { newLogQueryDecoder } from '../../../apis/logging/v1alpha2/log-query-decoder.ts';
import { isRecord } from '../../../apis/reading/unknown-value.ts';
import { patternError } from '../../../server/logging/matching/regex-dialect.ts';
import { LogService, line } from '../../support/logging/log-service.ts';
import { MemoryLogStore } from '../../support/logging/memory-log-store.ts';

const DOCUMENT = join(import.meta.dirname, '../../../docs/logs.md');
const PATH = /^\/k?apis\/(logging|tenant)\.platform\.io\/v1alpha2\/logs$/;

type Show = (record: Readonly<Record<string, unknown>>) => void;
type Program = (server: string, token: string, show: Show) => Promise<void>;

async function blocks(language: string): Promise<string[]> {
  const text = await readFile(DOCUMENT, 'utf8');
  return [...text.matchAll(/^```(\w+)\n(.*?)^```$/gms)]
    .filter(([, name]) => name === language)
    .map(([, , body = '']) => body);
}

/** What a shell would put in. */
function expanded(text: string): string {
  return text.replaceAll(/\$\(date [^)]*\)/g, '1700000000').replaceAll('$ID', 'WyJh');
}

/** The target of each request for logs: in one address, or with its parameters beside it. */
function targetsOf(commands: string): URL[] {
  const joined = expanded(commands.replaceAll('\\\n', ''));
  return joined.split('\n').flatMap((command) => {
    const [, address] = /["']?((?:https:\/\/[\w.:]+)?\/k?apis\/[^"'\s]+\/logs[^"'\s]*)/.exec(command) ?? [];
    if (address === undefined) return [];
    const url = new URL(address, 'https://localhost');
    const beside = command.matchAll(/ (?:-d|--data-urlencode) (?:'([^']*)'|(\S+))/g);
    for (const [, quoted, plain = ''] of beside) {
      const [name = '', value = ''] = (quoted ?? plain).split('=');
      url.searchParams.append(name, value);
    }
    return [url];
  });
}

/** Names of the members of objects, at every depth. */
function membersOf(schema: unknown): string[] {
  if (Array.isArray(schema)) return schema.flatMap(membersOf);
  if (!isRecord(schema)) return [];
  const { properties, ...rest } = schema;
  const names = isRecord(properties) ? Object.keys(properties) : [];
  return [
    ...names,
    ...membersOf(Object.values(rest)),
    ...membersOf(isRecord(properties) ? Object.values(properties) : []),
  ];
}

describe('docs/logs.md', () => {
  it('names every member of the answers', async () => {
    const document = await readFile(DOCUMENT, 'utf8');
    const schemas = [LogQueryAnswerSchema, LogStatisticsAnswerSchema, LogHistogramAnswerSchema];
    const unnamed = membersOf(schemas).filter(
      (name) => !document.includes(`"${name}"`) && !document.includes(`\`${name}\``),
    );
    expect(unnamed).to.deep.equal([]);
  });
});

describe('the examples of docs/logs.md', () => {
  it('ask what can be asked', async () => {
    const decoder = newLogQueryDecoder({ pattern: patternError });
    const targets = (await blocks('sh')).flatMap(targetsOf);
    expect(targets).to.have.length.above(7);
    for (const { pathname, searchParams, href } of targets) {
      expect(pathname).to.match(PATH);
      expect(() => decoder.decode(searchParams), href).not.to.throw();
    }
  });

  it('show an answer as it is', async () => {
    const isAnswer = new Ajv2020().compile(LogQueryAnswerSchema);
    const [answer = ''] = await blocks('json');
    expect(isAnswer(JSON.parse(answer)), JSON.stringify(isAnswer.errors)).to.equal(true);
  });

  it('have a program that shows the lines of a live tail', async () => {
    const [code = ''] = await blocks('js');
    const source = `export default async (server, token, show) => {\n${code}\n};`;
    const { default: program } = (await import(`data:text/javascript,${encodeURIComponent(source)}`)) as {
      default: Program;
    };
    const shop = line('2026-11-20T12:00:01.000000000Z', 'of the shop\nin two lines');
    const store = new MemoryLogStore([
      shop,
      line('2026-11-20T12:00:02.000000000Z', 'other', { namespace: 'bank' }),
    ]);
    const service = await new LogService({ store, limits: { followTimeout: 2_000 } }).start();
    const shown: unknown[] = [];
    await program(`http://127.0.0.1:${service.server.port}`, 'token', ({ log }) => shown.push(log));
    await service.stop();
    expect(shown).to.deep.equal(['of the shop\nin two lines']);
  });
});
