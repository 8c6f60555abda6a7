// The description of the platform's own paths, OpenAPI 3.1, served at /kapis/openapi.json and kept in the repository.
// Owns how it is put together; each part of the API describes itself in a file beside this one. Custom resources and
// the aggregated paths describe themselves in the way of Kubernetes, in openapi.ts.
import { groupName } from '../../../apis/resources/v1alpha3/group-version.ts';
import type { Handler } from '../../filters/request-context.ts';
import { onlyGet, staticDocument, writeDocument } from '../static-document.ts';
import { type Description, STATUS_SCHEMA } from './platform-answers.ts';
import { healthPaths } from './platform-health.ts';
import { nodePaths, nodeSchemas } from './platform-nodes.ts';

export const PLATFORM_DOCUMENT_PATH = '/kapis/openapi.json';

export interface DocumentOptions {
  /** The platform's name, for instance `platform`. */
  readonly platform: string;
  /** Of the server; the document in the repository has that of the API. */
  readonly version: string;
}

export function platformDocument({ platform, version }: DocumentOptions): Description {
  const group = groupName(platform);
  return {
    openapi: '3.1.0',
    info: {
      title: 'Platform API',
      version,
      description: 'Nodes for consoles and scripts, and the health of the server.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/' }],
    security: [{ token: [] }],
    tags: [
      { name: 'nodes', description: 'Nodes of the cluster, with search, filters, sorting and pages.' },
      { name: 'health', description: 'Whether the server works, and what it is.' },
    ],
    paths: { ...nodePaths(group), ...healthPaths() },
    components: {
      securitySchemes: {
        token: {
          type: 'http',
          scheme: 'bearer',
          description: 'An access token, for instance of /oauth/token.',
        },
      },
      schemas: { ...nodeSchemas(group), Status: STATUS_SCHEMA },
    },
  };
}

export function platformDocumentHandler(options: DocumentOptions): Handler {
  const document = staticDocument(platformDocument(options));
  const headers = { 'Content-Type': 'application/json', 'Cache-Control': 'no-cache' };
  return (context) => {
    onlyGet(context);
    writeDocument(context, document, headers);
  };
}
