import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect } from 'chai';
import { NODE_SORT_KEYS, NodeQuerySchema } from '../../../../../apis/resources/v1alpha3/node-query.ts';
import { isPublicPath } from '../../../../../server/authorization/public-paths.ts';
import {
  PLATFORM_DOCUMENT_PATH,
  platformDocument,
  platformDocumentHandler,
} from '../../../../../server/endpoints/openapi/platform-document.ts';
import { platformNodes } from '../../../../../server/endpoints/platform/platform-nodes.ts';
import { array, record, text } from '../../../../../server/resources/read.ts';
import { HandlerServer } from '../../../../support/handler-server.ts';
import { NodeCache, node, nodes } from '../../../../support/node-cache.ts';

const LIST = '/kapis/resources.platform.io/v1alpha3/nodes';
// Through JSON, as clients get it.
const document = record(
  JSON.parse(JSON.stringify(platformDocument({ platform: 'platform', version: '1.2.3' }))),
);
const paths = record(document['paths']);

function operation(path: string, method: string): Readonly<Record<string, unknown>> {
  return record(record(paths[path])[method]);
}

function* references(value: unknown): Generator<string> {
  if (typeof value !== 'object' || value === null) return;
  for (const [key, member] of Object.entries(value)) {
    if (key === '$ref') yield text(member);
    else yield* references(member);
  }
}

describe('the description of the platform', () => {
  it('has every parameter of the node list, as it is checked', () => {
    const parameters = array(operation(LIST, 'get')['parameters']).map(record);
    for (const [name, property] of Object.entries(NodeQuerySchema.properties)) {
      const found = parameters.find((one) => one['name'] === name);
      const { description, ...schema } = record(JSON.parse(JSON.stringify(property)));
      expect(found, name).to.deep.include({ in: 'query', description, schema });
    }
    const sortBy = parameters.find((one) => one['name'] === 'sortBy');
    expect(record(sortBy?.['schema'])['enum']).to.deep.equal([...NODE_SORT_KEYS]);
  });

  it('refers to nothing that it does not have, and names each operation once', () => {
    for (const reference of references(document)) {
      const [, ...steps] = reference.split('/');
      expect(
        steps.reduce<unknown>((at, step) => record(at)[step], document),
        reference,
      ).to.be.an('object');
    }
    const ids = Object.values(paths).flatMap((path) =>
      Object.values(record(path)).map((one) => record(one)['operationId']),
    );
    expect(new Set(ids).size).to.equal(ids.length).and.be.above(6);
  });

  it('is there for everybody, with a tag', async () => {
    expect(isPublicPath(PLATFORM_DOCUMENT_PATH)).to.equal(true);
    const server = await new HandlerServer(
      platformDocumentHandler({ platform: 'platform', version: '1.2.3' }),
    ).start();
    try {
      const { headers, body } = await server.ask(PLATFORM_DOCUMENT_PATH);
      expect(JSON.parse(body.toString())).to.deep.equal(document);
      const again = await server.ask(PLATFORM_DOCUMENT_PATH, {
        headers: { 'if-none-match': headers.etag ?? '' },
      });
      expect(again.status).to.equal(304);
      expect((await server.ask(PLATFORM_DOCUMENT_PATH, { method: 'POST' })).status).to.equal(405);
    } finally {
      await server.close();
    }
  });

  it('describes what is answered', async () => {
    const cache = new NodeCache();
    const plain = node('a', 1);
    cache.fill(1, [{ ...plain, metadata: { ...plain.metadata, creationTimestamp: '2026-01-01T00:00:00Z' } }]);
    const server = await new HandlerServer(platformNodes({ definition: nodes, cache: cache.cache })).start();
    const ajv = new Ajv2020({ strict: false, validateFormats: false });
    ajv.addSchema(document, 'platform');
    try {
      for (const [template, path, status] of [
        [LIST, LIST, 200],
        [LIST, `${LIST}?limit=0`, 200],
        [LIST, `${LIST}?page=0`, 400],
        [`${LIST}/{name}`, `${LIST}/a`, 200],
        [`${LIST}/{name}`, `${LIST}/b`, 404],
      ] as const) {
        const answer = await server.ask(path);
        expect(answer.status, path).to.equal(status);
        const described = record(record(operation(template, 'get')['responses'])[String(status)]);
        const schema = record(record(record(described['content'])['application/json'])['schema']);
        const validate = ajv.getSchema(`platform${text(schema['$ref'])}`);
        expect(validate?.(JSON.parse(answer.body.toString())), JSON.stringify(validate?.errors)).to.equal(
          true,
        );
      }
    } finally {
      await server.close();
    }
  });
});
