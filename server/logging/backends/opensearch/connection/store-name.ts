/** How errors name this store. */
export const STORE = 'opensearch';
