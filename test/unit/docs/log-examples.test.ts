// Tests of the log query examples in docs/: parameters and responses must be valid.
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

const DOCS = join(import.meta.dirname, '../../../docs');
const QUERIES = 'log-queries.md';
const STREAMS = 'log-export-and-follow.md';
const DOCUMENTS = [QUERIES, STREAMS, 'access.md'];
const PATH = /^\/k?apis\/(logging|tenant)\.platform\.io\/v1alpha2\/logs$/;

async function blocks(document: string, language: string): Promise<string[]> {
  const text = await readFile(join(DOCS, document), 'utf8');
  return [...text.matchAll(/^```(\w+)\n(.*?)^```$/gms)]
    .filter(([, name]) => name === language)
    .map(([, , body = '']) => body);
}

/** Shell expansion. */
function expanded(text: string): string {
  return text.replaceAll(/\$\(date [^)]*\)/g, '1700000000').replaceAll('$ID', 'WyJh');
}

/** Targets of log requests: in one URL, or with separate parameters of curl. */
function targetsOf(commands: string): URL[] {
  const joined = expanded(commands.replaceAll('\\\n', ''));
  return joined.split('\n').flatMap((command) => {
    const [, address] = /["']?((?:\$BASE)?\/k?apis\/[^"'\s]+\/logs[^"'\s]*)/.exec(command) ?? [];
    if (address === undefined) return [];
    const url = new URL(address.replace('$BASE', ''), 'https://localhost');
    const beside = command.matchAll(/ (?:-d|--data-urlencode) (?:'([^']*)'|(\S+))/g);
    for (const [, quoted, plain = ''] of beside) {
      const [name = '', value = ''] = (quoted ?? plain).split('=');
      url.searchParams.append(name, value);
    }
    return [url];
  });
}

/** Names of object members, recursively. */
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

describe('the documents about logs', () => {
  it('name every member of the responses', async () => {
    const document = await readFile(join(DOCS, QUERIES), 'utf8');
    const schemas = [LogQueryAnswerSchema, LogStatisticsAnswerSchema, LogHistogramAnswerSchema];
    const unnamed = membersOf(schemas).filter(
      (name) => !document.includes(`"${name}"`) && !document.includes(`\`${name}\``),
    );
    expect(unnamed).to.deep.equal([]);
  });

  it('have examples with valid parameters', async () => {
    const decoder = newLogQueryDecoder();
    const scripts = await Promise.all(DOCUMENTS.map((document) => blocks(document, 'sh')));
    const targets = scripts.flat().flatMap(targetsOf);
    expect(targets).to.have.length.above(7);
    for (const { pathname, searchParams, href } of targets) {
      expect(pathname).to.match(PATH);
      expect(() => decoder.decode(searchParams), href).not.to.throw();
    }
  });

  it('show a valid response', async () => {
    const isAnswer = new Ajv2020().compile(LogQueryAnswerSchema);
    const [answer = ''] = await blocks(QUERIES, 'json');
    expect(isAnswer(JSON.parse(answer)), JSON.stringify(isAnswer.errors)).to.equal(true);
  });
});
