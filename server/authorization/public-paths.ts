// What anybody may ask without credentials or rules: whether the server lives, what it is and what it serves. The
// aggregator asks for OpenAPI and legacy discovery as users without any group, so these cannot be left to RBAC.
const PUBLIC =
  /^\/(?:(?:livez|readyz|healthz)(?:\/[^/]+)*|version|apis(?:\/[^/]+){0,2}\/?|openapi\/v2|openapi\/v3(?:\/[^/]+)*|openapi\/(?:platform|custom-resources)\.json|openapi\/page(?:\/[^/]+)?)$/;

/** Takes the decoded path of a non-resource request; nothing else is public, `/metrics` least of all. */
export function isPublicPath(path: string): boolean {
  return PUBLIC.test(path);
}
