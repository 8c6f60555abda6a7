// Generated files of the client library: its types, which are the same for each platform, and the version of its package.
import { join } from 'node:path';
import { platformDescription } from '../../apis/description/platform-apis.ts';
import packageManifest from '../../package.json' with { type: 'json' };
import type { GeneratedFile } from './generated-file.ts';
import { type OpenAPI, typeDeclarations } from './type-declarations.ts';

const RESOURCES = '/kapis/resources.platform.io/v1alpha3';
const SCHEMAS = [
  'Status',
  'ResourceList',
  'Resource',
  'SearchResult',
  'LogQueryAnswer',
  'LogStatisticsAnswer',
  'LogHistogramAnswer',
  'TokenResponse',
  'ServerMetadata',
];
const QUERIES = {
  ListParameters: `${RESOURCES}/{resource}`,
  SearchParameters: `${RESOURCES}/search`,
  LogParameters: '/kapis/logging.platform.io/v1alpha2/logs',
};

export function clientFiles(root: string): GeneratedFile[] {
  const { version } = packageManifest;
  return [
    { path: join(root, 'client/generated/platform.ts'), text: () => types(version) },
    {
      path: join(root, 'client/package.json'),
      text: (present = '{}') => {
        const manifest: object = JSON.parse(present);
        return `${JSON.stringify({ ...manifest, version }, undefined, 2)}\n`;
      },
    },
  ];
}

function types(version: string): string {
  const description = platformDescription({ platform: 'platform', version, oauth: true, logs: true });
  // As a client reads it: plain JSON.
  const document: OpenAPI = JSON.parse(JSON.stringify(description));
  const head = '// Types of docs/openapi/platform.json. Generated: npm run generate.\n';
  return `${head}\n${typeDeclarations(document, { schemas: SCHEMAS, queries: QUERIES })}`;
}
