// Paths that need no credentials and no RBAC rule: health, version and discovery. The aggregator requests OpenAPI and
// legacy discovery as users without groups, so RBAC cannot cover them.
const PUBLIC =
  /^\/(?:(?:livez|readyz|healthz)(?:\/[^/]+)*|version|apis(?:\/[^/]+){0,2}\/?|openapi\/v2|openapi\/v3(?:\/[^/]+)*|openapi\/(?:platform|custom-resources)\.json|openapi\/page(?:\/[^/]+)?)$/;

/** Takes the decoded path of a non-resource request. All other paths, `/metrics` included, need a permission. */
export function isPublicPath(path: string): boolean {
  return PUBLIC.test(path);
}
