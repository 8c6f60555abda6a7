import { customResourcesDescription } from '../../apis/description/custom-resources-document.ts';
import { platformDescription } from '../../apis/description/platform-apis.ts';
import packageManifest from '../../package.json' with { type: 'json' };
import { clientTypes, type OpenAPI } from './client-types.ts';
import type { Names } from './names.ts';

/** Returns the OpenAPI documents in docs/openapi: a map from paths to texts. */
export function descriptions({ platform }: Names): ReadonlyMap<string, string> {
  const { version } = packageManifest;
  const text = (value: object): string => `${JSON.stringify(value, undefined, 2)}\n`;
  return new Map([
    ['docs/openapi/platform.json', text(platformDescription({ platform, version, oauth: true, logs: true }))],
    ['docs/openapi/custom-resources.json', text(customResourcesDescription({ platform, version }))],
  ]);
}

const RESOURCES = '/kapis/resources.platform.io/v1alpha3';

/** The generated modules of the client library, which are the same for each platform. */
export function clientModules(): ReadonlyMap<string, string> {
  const { version } = packageManifest;
  const description = platformDescription({ platform: 'platform', version, oauth: true, logs: true });
  // As a client reads it: plain JSON.
  const document: OpenAPI = JSON.parse(JSON.stringify(description));
  const text = clientTypes(document, {
    schemas: [
      'Status',
      'ResourceList',
      'Resource',
      'SearchResult',
      'LogQueryAnswer',
      'LogStatisticsAnswer',
      'LogHistogramAnswer',
      'TokenResponse',
      'ServerMetadata',
    ],
    queries: {
      ListParameters: `${RESOURCES}/{resource}`,
      SearchParameters: `${RESOURCES}/search`,
      LogParameters: '/kapis/logging.platform.io/v1alpha2/logs',
    },
  });
  return new Map([['client/generated/platform.ts', text]]);
}
