import { isUserName, MAX_USER_NAME, USER_NAME_EXPECTS } from '../../apis/iam/v1beta1/custom-resource.ts';

/** What is wrong with a name for a user, and the nearest one that can be had; undefined for nothing. */
export function userNameFault(name: string): string | undefined {
  if (isUserName(name)) return undefined;
  const near = nearestName(name);
  const cure = near === undefined ? '' : `; what about ${near}?`;
  return `${JSON.stringify(name)} cannot be the name of a user: names consist of ${USER_NAME_EXPECTS}${cure}`;
}

function nearestName(name: string): string | undefined {
  const near = name
    .normalize('NFKD')
    .toLowerCase()
    .replaceAll(/\p{Mark}/gu, '')
    .replaceAll(/[^a-z0-9.]+/g, '-')
    .slice(0, MAX_USER_NAME)
    .replaceAll(/^[-.]+|[-.]+$/g, '');
  return isUserName(near) ? near : undefined;
}
