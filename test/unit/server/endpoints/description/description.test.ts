// Tests of the handlers of the OpenAPI 3.1 documents and the API page.
import { expect } from 'chai';
import { customResourcesDescription } from '../../../../../apis/description/custom-resources-document.ts';
import { platformDescription } from '../../../../../apis/description/platform-apis.ts';
import { CUSTOM_RESOURCES } from '../../../../../apis/iam/v1beta1/custom-resources.ts';
import { UserQuerySchema } from '../../../../../apis/iam/v1beta1/requests.ts';
import {
  LogHistogramAnswerSchema,
  LogQueryAnswerSchema,
  LogStatisticsAnswerSchema,
} from '../../../../../apis/logging/v1alpha2/log-answer.ts';
import { LogQuerySchema } from '../../../../../apis/logging/v1alpha2/log-query.ts';
import { array, record, text } from '../../../../../apis/reading/unknown-value.ts';
import { AnyKindQuerySchema } from '../../../../../apis/resources/v1alpha3/resource-query.ts';
import { SearchQuerySchema } from '../../../../../apis/resources/v1alpha3/search-query.ts';
import { customResourceDefinition } from '../../../../../hack/generate/custom-resources.ts';
import { namesFor } from '../../../../../hack/generate/names.ts';
import { isPublicPath } from '../../../../../server/authorization/public-paths.ts';
import { descriptionRouter } from '../../../../../server/endpoints/description/description.ts';
import { servedHandler } from '../../../../support/handler-server.ts';
import { routed } from '../../../../support/routed.ts';

const DESCRIBED = { platform: 'platform', version: '1.2.3', oauth: true, logs: true };
const BASE = '/kapis/resources.platform.io/v1alpha3';
const LIST = `${BASE}/{resource}`;
const USERS = '/kapis/iam.platform.io/v1beta1/users';

// Encodes and decodes the value, because clients receive JSON.
const wire = (value: object) => record(JSON.parse(JSON.stringify(value)));
const platform = wire(platformDescription(DESCRIBED));
const customResources = wire(customResourcesDescription(DESCRIBED));

function operation(path: string, method: string): Readonly<Record<string, unknown>> {
  return record(record(record(platform['paths'])[path])[method]);
}

/** All named members of a schema, at any depth. */
function* members(schema: unknown, path = ''): Generator<[string, unknown]> {
  const { properties, items } = record(schema);
  if (items !== undefined) yield* members(items, `${path}[]`);
  for (const [name, member] of Object.entries(record(properties))) {
    yield [`${path}.${name}`, member];
    yield* members(member, `${path}.${name}`);
  }
}

describe('the OpenAPI documents', () => {
  const server = servedHandler(routed(descriptionRouter(DESCRIBED)));

  for (const [path, query] of [
    [LIST, AnyKindQuerySchema],
    [`${BASE}/namespaces/{namespace}/{resource}`, AnyKindQuerySchema],
    [`${BASE}/search`, SearchQuerySchema],
    [USERS, UserQuerySchema],
    ['/kapis/tenant.platform.io/v1alpha2/logs', LogQuerySchema],
    ['/kapis/logging.platform.io/v1alpha2/logs', LogQuerySchema],
  ] as const) {
    it(`contain every validated parameter of ${path}`, () => {
      const parameters = array(operation(path, 'get')['parameters']).map(record);
      for (const [name, property] of Object.entries(query.properties)) {
        // The path of a namespace has a parameter of the same name in the path.
        const found = parameters.find((one) => one['name'] === name && one['in'] === 'query');
        const { description, ...schema } = wire(property);
        expect(found, name).to.deep.include({ required: false, schema });
        expect(found?.['description']).to.equal(text(description).replace('<platform>', 'platform'));
      }
    });
  }

  it('describe custom resources like their definitions', () => {
    const schemas = record(record(customResources['components'])['schemas']);
    for (const resource of CUSTOM_RESOURCES) {
      const definition = wire(customResourceDefinition(namesFor('platform'), resource));
      const version = record(array(record(definition['spec'])['versions'])[0]);
      const defined = record(record(version['schema'])['openAPIV3Schema']);
      expect(schemas[resource.kind], resource.kind).to.deep.include(defined);
    }
  });

  it('omit users and OAuth without OAuth endpoints', () => {
    const without = JSON.stringify(platformDescription({ ...DESCRIBED, oauth: false }));
    expect(without).to.include(LIST).and.not.include('/oauth');
    expect(without).not.to.include(USERS);
  });

  it('omit logs without a log store', () => {
    expect(JSON.stringify(platformDescription({ ...DESCRIBED, logs: false }))).not.to.include(
      'logging.platform.io',
    );
  });

  for (const [what, schema] of [
    ['the response to a log query', LogQueryAnswerSchema],
    ['the response to a log statistics', LogStatisticsAnswerSchema],
    ['the response to a log histogram', LogHistogramAnswerSchema],
    ...CUSTOM_RESOURCES.map(
      ({ kind, spec, status }) => [`a ${kind}`, { properties: { spec, status } }] as const,
    ),
  ] as const) {
    it(`describe each member of ${what}`, () => {
      for (const [path, member] of members(wire(schema))) {
        expect(record(member)['description'], path).to.be.a('string').that.matches(/\.$/);
      }
    });
  }

  for (const [path, document] of [
    ['/openapi/platform.json', platform],
    ['/openapi/custom-resources.json', customResources],
  ] as const) {
    it(`are public and have an entity tag: ${path}`, async () => {
      expect(isPublicPath(path)).to.equal(true);
      const { headers, body } = await server.ask(path);
      expect(JSON.parse(body.toString())).to.deep.equal(document);
      const again = await server.ask(path, { headers: { 'if-none-match': headers.etag ?? '' } });
      expect(again.status).to.equal(304);
      const head = await server.ask(path, { method: 'HEAD' });
      expect(head).to.deep.include({ status: 200, body: Buffer.alloc(0) });
      expect(head.headers['content-length']).to.equal(String(body.length));
      expect((await server.ask(path, { method: 'POST' })).status).to.equal(405);
    });
  }

  it('are shown by a page that loads only its own files and allows no other scripts', async () => {
    const { headers, body } = await server.ask('/openapi/page');
    const policy = headers['content-security-policy'];
    expect(policy).to.match(/^default-src 'none'; script-src 'self'; style-src/);
    expect(policy).not.to.include('unsafe');
    const addresses = body.toString().matchAll(/(?:src|rel=[^>]*href)="([^"]+)"/g);
    const loaded = Array.from(addresses, ([, address = '']) => address);
    expect(loaded).to.have.length(5);
    const redirect = ['/openapi/page/oauth2-redirect.html', '/openapi/page/oauth2-redirect.js'];
    for (const path of [...loaded, ...redirect]) {
      expect(isPublicPath(path), path).to.equal(true);
      const file = await server.ask(path);
      expect(file.status).to.equal(200);
      expect(file.headers['x-content-type-options']).to.equal('nosniff');
    }
  });

  it('are shown by a page whose address can have a slash at the end', async () => {
    expect(isPublicPath('/openapi/page/')).to.equal(true);
    const { status, headers } = await server.ask('/openapi/page/');
    expect([status, headers.location]).to.deep.equal([303, '/openapi/page']);
  });
});
