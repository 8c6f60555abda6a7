// Lists the paths that need no authentication: health, version, discovery, OpenAPI, and the files for browsers.
/**
 * The aggregator requests some of these paths as a user without groups, to whom the default bindings of discovery
 * roles do not apply.
 */
const PUBLIC =
  /^\/(?:(?:livez|readyz|healthz)(?:\/[^/]+)*|version|kapis\/version|apis(?:\/[^/]+){0,2}\/?|openapi\/v2|openapi\/v3(?:\/[^/]+)*|openapi\/(?:platform|custom-resources)\.json|openapi\/page(?:\/[^/]*)?|explore(?:\/.*)?|client\/v1\/.+)$/;

/** Returns true for a public path. `path`: decoded. All other paths, such as `/metrics`, need a permission. */
export function isPublicPath(path: string): boolean {
  return PUBLIC.test(path);
}
