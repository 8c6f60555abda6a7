// Descriptions of our APIs for people and programs: OpenAPI 3.1 of the platform's APIs and of the custom resources, and
// a page that shows them. Owns the paths; what is described comes from apis/description. Kubernetes' own descriptions
// (/openapi/v2, /openapi/v3) are in endpoints/openapi.
import { customResourcesDescription } from '../../../apis/description/custom-resources.ts';
import { type Described, platformDescription } from '../../../apis/description/platform-apis.ts';
import type { Handler } from '../../request/request-context.ts';
import { onlyRead, staticDocument, writeDocument } from '../static-document.ts';
import { pageHandlers } from './page.ts';

const PLATFORM_DOCUMENT = '/openapi/platform.json';
const CUSTOM_RESOURCES_DOCUMENT = '/openapi/custom-resources.json';

/** Handlers by exact path. */
export function descriptionHandlers(described: Described): ReadonlyMap<string, Handler> {
  return new Map([
    [PLATFORM_DOCUMENT, documentHandler(platformDescription(described))],
    [CUSTOM_RESOURCES_DOCUMENT, documentHandler(customResourcesDescription(described))],
    ...pageHandlers(),
  ]);
}

function documentHandler(value: object): Handler {
  const document = staticDocument(value);
  return (context) => {
    onlyRead(context);
    return writeDocument(context, document, {
      'Content-Type': 'application/json',
      'Cache-Control': 'no-cache',
      'X-Content-Type-Options': 'nosniff',
    });
  };
}
