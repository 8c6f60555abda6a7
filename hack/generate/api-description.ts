import { customResourcesDescription } from '../../apis/description/custom-resources-document.ts';
import { platformDescription } from '../../apis/description/platform-apis.ts';
import packageManifest from '../../package.json' with { type: 'json' };
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
